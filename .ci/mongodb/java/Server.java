// mongo-java-server in memory, as a server for tests: java -cp "…" Server.java PORT.
// It names itself 7.0 (wire version 21), since the driver refuses the version it names by default.
import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import java.util.List;

public class Server {
    private static final class Named implements MongoVersion {
        @Override
        public List<Integer> getVersionArray() {
            return List.of(7, 0, 0);
        }

        @Override
        public int getWireVersion() {
            return 21;
        }
    }

    public static void main(String[] arguments) throws Exception {
        MongoServer server = new MongoServer(new MemoryBackend().version(new Named()));
        server.bind("127.0.0.1", Integer.parseInt(arguments[0]));
        System.out.println("ready");
        Thread.currentThread().join();
    }
}
