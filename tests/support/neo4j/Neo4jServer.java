import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.configuration.connectors.BoltConnector;
import org.neo4j.configuration.connectors.BoltConnectorInternalSettings;
import org.neo4j.configuration.connectors.HttpConnector;
import org.neo4j.configuration.helpers.SocketAddress;
import org.neo4j.dbms.api.DatabaseManagementService;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;
import org.neo4j.graphdb.QueryExecutionException;

/**
 * A Neo4j Community server (real Bolt) for tests, from Maven Central jars.
 * Usage: java ... Neo4jServer HOME PORT
 * The user neo4j gets the password in NEO4J_PASSWORD (at least 8 characters; an argument would show in ps).
 * Data stays under HOME/data, so that a stop and a start keep it. Prints READY when Bolt listens; stops on SIGTERM.
 */
public class Neo4jServer {
    public static void main(String[] args) throws Exception {
        long t0 = System.currentTimeMillis();
        Path home = Path.of(args[0]).toAbsolutePath();
        int port = Integer.parseInt(args[1]);
        String password = System.getenv("NEO4J_PASSWORD");
        if (password == null || password.length() < 8) {
            throw new IllegalArgumentException("NEO4J_PASSWORD must have at least 8 characters");
        }
        Files.createDirectories(home);
        DatabaseManagementService dbms = new DatabaseManagementServiceBuilder(home)
                .setConfig(BoltConnector.enabled, true)
                .setConfig(BoltConnector.listen_address, new SocketAddress("127.0.0.1", port))
                .setConfig(BoltConnector.advertised_address, new SocketAddress("127.0.0.1", port))
                .setConfig(HttpConnector.enabled, false)
                .setConfig(GraphDatabaseSettings.auth_enabled, true)
                .setConfig(GraphDatabaseSettings.pagecache_memory, 128L * 1024 * 1024)
                // both default to 5 s, which every stop would wait out
                .setConfig(BoltConnectorInternalSettings.thread_pool_shutdown_wait_time, Duration.ZERO)
                .setConfig(BoltConnectorInternalSettings.connection_shutdown_wait_time, Duration.ZERO)
                // a new database otherwise preallocates two 256 MiB logs, and pays for that at start and at stop
                .setConfig(GraphDatabaseSettings.preallocate_logical_logs, false)
                .setConfig(GraphDatabaseSettings.logical_log_rotation_threshold, 32L * 1024 * 1024)
                .setConfig(GraphDatabaseSettings.keep_logical_logs, "2 files")
                .build();
        Runtime.getRuntime().addShutdownHook(new Thread(dbms::shutdown));
        try {
            dbms.database("system").executeTransactionally(
                    "ALTER USER neo4j SET PASSWORD $p CHANGE NOT REQUIRED", Map.of("p", password));
        } catch (QueryExecutionException e) {
            // a restart: the password is already this one
            if (!String.valueOf(e.getMessage()).contains("cannot be the same")) throw e;
        }
        if (!dbms.database("neo4j").isAvailable(Duration.ofSeconds(60).toMillis())) {
            throw new IllegalStateException("database neo4j is not available");
        }
        System.out.println("READY bolt://127.0.0.1:" + port + " in " + (System.currentTimeMillis() - t0) + " ms");
        Thread.currentThread().join();
    }
}
