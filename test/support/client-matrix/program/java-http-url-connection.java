// Java: HttpURLConnection

// docs: begin
import java.net.HttpURLConnection;
import java.net.URL;
// docs: end
import java.util.Base64;
import java.util.Scanner;

class JavaHttpUrlConnection {
    // docs: begin
    static HttpURLConnection call(String method, String path, String json) throws Exception {
        var connection = (HttpURLConnection) new URL(System.getenv("SERVICE_URL") + path).openConnection();
        connection.setRequestMethod(method);
        connection.setConnectTimeout(10_000);
        connection.setReadTimeout(10_000);
        connection.setRequestProperty("Authorization", "Token " + System.getenv("API_TOKEN"));
        connection.setRequestProperty("Content-Type", "application/json");
        if (!json.isEmpty()) {
            connection.setDoOutput(true);
            connection.getOutputStream().write(json.getBytes("UTF-8"));
        }
        return connection;
    }

    static String textOf(HttpURLConnection connection) throws Exception {
        var stream = connection.getResponseCode() < 400 ? connection.getInputStream() : connection.getErrorStream();
        return new String(stream.readAllBytes(), "UTF-8");
    }
    // docs: end

    // Reads requests as lines from standard input, and writes responses as lines to standard output; see ../client.ts.
    public static void main(String[] arguments) throws Exception {
        var lines = new Scanner(System.in);
        while (lines.hasNextLine()) {
            var parts = lines.nextLine().split("\t", -1);
            String status;
            String text;
            try {
                var connection = call(parts[0], parts[1], new String(Base64.getDecoder().decode(parts[2]), "UTF-8"));
                text = textOf(connection);
                status = String.valueOf(connection.getResponseCode());
            } catch (java.net.ProtocolException error) {
                status = "refused";
                text = error.toString();
            }
            System.out.println(status + "\t" + Base64.getEncoder().encodeToString(text.getBytes("UTF-8")));
        }
    }
}
