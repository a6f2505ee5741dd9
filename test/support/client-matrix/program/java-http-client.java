// Java: java.net.http.HttpClient

// docs: begin
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
// docs: end
import java.util.Base64;
import java.util.Scanner;

class JavaHttpClient {
    // docs: begin
    static final HttpClient client = HttpClient.newHttpClient();

    static HttpResponse<String> call(String method, String path, String json) throws Exception {
        var body = json.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(json);
        var request = HttpRequest.newBuilder(URI.create(System.getenv("SERVICE_URL") + path))
            .header("Authorization", "Token " + System.getenv("API_TOKEN"))
            .header("Content-Type", "application/json")
            .method(method, body)
            .timeout(Duration.ofSeconds(10))
            .build();
        return client.send(request, BodyHandlers.ofString());
    }
    // docs: end

    // Reads requests as lines from standard input, and writes responses as lines to standard output; see ../client.ts.
    public static void main(String[] arguments) throws Exception {
        var lines = new Scanner(System.in);
        while (lines.hasNextLine()) {
            var parts = lines.nextLine().split("\t", -1);
            var response = call(parts[0], parts[1], new String(Base64.getDecoder().decode(parts[2]), "UTF-8"));
            var text = Base64.getEncoder().encodeToString(response.body().getBytes("UTF-8"));
            System.out.println(response.statusCode() + "\t" + text);
        }
    }
}
