// Posts a body again and again with fetch and with node:http, and prints the status of each answer.
import http from "node:http";

const [url, bodyBytes, count] = process.argv.slice(2);
const body = Buffer.alloc(Number(bodyBytes), "x");
const agent = new http.Agent({ keepAlive: true });

function post(done) {
  const request = http.request(url, { method: "POST", agent }, (answer) => {
    answer.resume();
    answer.on("end", () => done(answer.statusCode));
  });
  request.on("error", (error) => done(error.code));
  request.end(body);
}

process.on("uncaughtException", (error) => console.log(error.code));
for (let number = 0; number < Number(count) / 2; number += 1) {
  try {
    const answer = await fetch(url, { method: "POST", body });
    await answer.text();
    console.log(answer.status);
  } catch (error) {
    console.log(error.cause?.code ?? String(error));
  }
  console.log(await new Promise(post));
}
process.exit(0);
