import java.util.HashMap;
import java.util.Map;

/** The light of a world in blocks: spreads from chunk to chunk, whose neighbours are found by their position. */
public final class Main {
    static final int SIDE = 48;

    static final class ChunkPos {
        final int x, z;

        ChunkPos(int x, int z) {
            this.x = x;
            this.z = z;
        }

        @Override public int hashCode() {
            if (Frame.slow) return x ^ z;
            int mixed = x * 0x9e3779b1 + z;
            return mixed ^ mixed >>> 15;
        }

        @Override public boolean equals(Object other) {
            return other instanceof ChunkPos pos && pos.x == x && pos.z == z;
        }
    }

    static final class Chunk {
        final byte[] light = new byte[256];
    }

    static final class World {
        final Map<ChunkPos, Chunk> chunks = new HashMap<>();

        World(int seed) {
            for (int x = 0; x < SIDE; x++) {
                for (int z = 0; z < SIDE; z++) chunks.put(new ChunkPos(x, z), new Chunk());
            }
            chunks.get(new ChunkPos(seed, seed)).light[0] = 15;
        }

        /** Light that comes over the border from a neighbour; 0 where the world ends. */
        int border(int x, int z, int row) {
            Chunk chunk = chunks.get(new ChunkPos(x, z));
            return chunk == null ? 0 : chunk.light[row * 16 + 15];
        }

        void relight(int x, int z) {
            Chunk chunk = chunks.get(new ChunkPos(x, z));
            int incoming = 0;
            for (int row = 0; row < 4; row++) {
                incoming = Math.max(incoming, border(x - 1, z, row));
                incoming = Math.max(incoming, border(x, z + 1, row * 2));
            }
            byte[] light = chunk.light;
            light[0] = (byte) Math.max(light[0], incoming - 1);
            for (int pass = 0; pass < 6; pass++) {
                for (int i = 1; i < 256; i++) {
                    int around = Math.max(light[i - 1], i >= 16 ? light[i - 16] : 0) - 1;
                    light[i] = (byte) (Math.max(light[i], around) & 15);
                }
            }
            light[255 - (x & 15)] ^= 3;
        }
    }

    public static void main(String[] words) throws InterruptedException {
        Frame.begin(words);
        Frame.every = 0.1;
        World[] worlds = {new World(3), new World(17)};
        Frame.run("lighting", 2, index -> {
            for (int x = 0; x < SIDE; x++) {
                for (int z = 0; z < SIDE; z++) worlds[index].relight(x, z);
            }
        });
        Frame.lostShare(1);
    }
}
