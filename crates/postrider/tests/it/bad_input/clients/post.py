"""Posts a body again and again with the standard library, and prints the status of each answer."""
import sys
import urllib.error
import urllib.request

url, body_bytes, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for _ in range(count):
    try:
        request = urllib.request.Request(url, data=b"x" * body_bytes, method="POST")
        print(urllib.request.urlopen(request, timeout=40).status)
    except urllib.error.HTTPError as answer:
        print(answer.code)
    except OSError as error:
        print(repr(error))
