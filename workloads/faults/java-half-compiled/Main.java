/** Multiplies matrices: loops that a JVM's second compiler makes much faster. Both variants are the same, only the options differ. */
public final class Main {
    static final int SIZE = 96;

    static void multiply(float[] a, float[] b, float[] product) {
        for (int row = 0; row < SIZE; row++) {
            for (int column = 0; column < SIZE; column++) product[row * SIZE + column] = 0;
            for (int k = 0; k < SIZE; k++) {
                float factor = a[row * SIZE + k];
                for (int column = 0; column < SIZE; column++) product[row * SIZE + column] += factor * b[k * SIZE + column];
            }
        }
    }

    static float trace(float[] matrix) {
        float sum = 0;
        for (int i = 0; i < SIZE; i++) sum += matrix[i * SIZE + i];
        return sum;
    }

    public static void main(String[] words) throws InterruptedException {
        Frame.begin(words);
        float[][][] work = new float[2][3][SIZE * SIZE];
        for (float[][] matrices : work)
            for (float[] matrix : matrices) for (int i = 0; i < matrix.length; i++) matrix[i] = i % 7 / 8f;
        float[] traces = new float[2 * 16];
        Frame.run("solver", 2, index -> {
            multiply(work[index][0], work[index][1], work[index][2]);
            traces[index * 16] += trace(work[index][2]);
        });
        Frame.lostShare(1);
    }
}
