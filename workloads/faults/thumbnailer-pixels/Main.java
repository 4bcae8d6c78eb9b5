import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Makes previews of pictures: decodes each into a pixel buffer outside the heap, scales it down and keeps the preview. */
public final class Main {
    static final int WIDTH = 640, HEIGHT = 480, SCALE = 4, KEPT = 150_000;

    /** A preview as the gallery keeps it. */
    record Preview(long picture, int[] histogram, List<Integer> corners) {}

    static final Preview[] gallery = new Preview[KEPT];

    static void decode(long picture, ByteBuffer pixels) {
        long state = picture * 0x9e3779b97f4a7c15L | 1;
        for (int i = 0; i < WIDTH * HEIGHT; i++) {
            state ^= state << 13;
            state ^= state >>> 7;
            state ^= state << 17;
            pixels.putInt(i * 4, (int) (state >>> 20));
        }
    }

    static Preview scale(long picture, ByteBuffer pixels) {
        int[] histogram = new int[64];
        int brightest = 0;
        for (int y = 0; y < HEIGHT; y += SCALE) {
            for (int x = 0; x < WIDTH; x += SCALE) {
                int red = 0, green = 0, blue = 0;
                for (int dy = 0; dy < SCALE; dy++) {
                    for (int dx = 0; dx < SCALE; dx++) {
                        int pixel = pixels.getInt(((y + dy) * WIDTH + x + dx) * 4);
                        red += pixel >>> 16 & 255;
                        green += pixel >>> 8 & 255;
                        blue += pixel & 255;
                    }
                }
                int grey = (red * 3 + green * 6 + blue) / (10 * SCALE * SCALE);
                histogram[grey >> 2]++;
                brightest = Math.max(brightest, grey);
            }
        }
        return new Preview(picture, histogram, new ArrayList<>(List.of(brightest, histogram[0], histogram[63], histogram[31])));
    }

    public static void main(String[] words) throws InterruptedException {
        Frame.begin(words);
        Frame.every = 0.1;
        for (int i = 0; i < KEPT; i++) gallery[i] = new Preview(i, new int[64], new ArrayList<>(List.of(i, i + 1, i + 2, i + 3)));
        long[] next = {1, 1_000_001};
        Frame.run("preview", 2, index -> {
            long picture = next[index]++;
            ByteBuffer pixels = ByteBuffer.allocateDirect(WIDTH * HEIGHT * 4);
            decode(picture, pixels);
            gallery[(int) (picture % KEPT)] = scale(picture, pixels);
        });
        Frame.lostShare(1);
    }
}
