// Posts a body again and again with java.net.http, and prints the status of each answer.
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

public class Post {
    public static void main(String[] args) throws Exception {
        byte[] body = new byte[Integer.parseInt(args[1])];
        HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        for (int number = 0; number < Integer.parseInt(args[2]); number++) {
            try {
                HttpRequest request = HttpRequest.newBuilder(URI.create(args[0]))
                        .POST(HttpRequest.BodyPublishers.ofByteArray(body)).build();
                System.out.println(client.send(request, HttpResponse.BodyHandlers.ofString()).statusCode());
            } catch (java.io.IOException error) {
                System.out.println(error);
            }
        }
        System.exit(0);
    }
}
