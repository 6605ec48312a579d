// Takes the token from behind the # of the link, where no server sees it, and sends it in the form. It is gone from the
// address and from the history before the page is left.
"use strict";

const behind = location.hash.slice(1);
if (behind) {
  history.replaceState(null, "", location.pathname);
  document.getElementById("token").value = behind;
  document.getElementById("entry").submit();
}
