import java.lang.reflect.Proxy;
import java.util.function.LongUnaryOperator;
import java.util.stream.LongStream;

/** Rules that are lambdas and proxies. The slow variant only makes some others first, so that the numbers in their names are not the same. */
public final class Main {
    static LongUnaryOperator rule(int number) {
        LongUnaryOperator add = x -> x + number, mix = x -> (x ^ (x >>> 29)) * 0xbf58476d1ce4e5b9L;
        LongUnaryOperator both = add.andThen(mix);
        return (LongUnaryOperator) Proxy.newProxyInstance(Main.class.getClassLoader(), new Class<?>[] {LongUnaryOperator.class},
            (proxy, method, words) -> both.applyAsLong((long) words[0]));
    }

    static long used;

    public static void main(String[] words) throws InterruptedException {
        Frame.begin(words);
        if (Frame.slow) {
            Runnable[] others = {() -> used++, () -> used--, () -> used += 2, () -> used -= 2, () -> used *= 3, () -> used ^= 5};
            for (Runnable other : others) other.run();
        }
        LongUnaryOperator rule = rule(words.length);
        long[] results = new long[2 * 16];
        Frame.run("rules", 2, index -> results[index * 16] += LongStream.range(0, 2_000).map(rule).sum());
    }
}
