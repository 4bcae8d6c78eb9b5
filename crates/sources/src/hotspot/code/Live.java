import java.util.*;
import java.util.function.*;

/** Runs code of all kinds that a compiler has: calls through interfaces and tables, lambdas, exceptions, recursion of a known depth, a loop that is entered late. */
public class Live {
    interface Shape { double area(); }
    static final class Square implements Shape { final double side; Square(double side) { this.side = side; } public double area() { return side * side; } }
    static final class Circle implements Shape { final double radius; Circle(double radius) { this.radius = radius; } public double area() { return 3 * radius * radius; } }
    static final class Ring implements Shape { final double outer, inner; Ring(double outer, double inner) { this.outer = outer; this.inner = inner; } public double area() { return 3 * (outer * outer - inner * inner); } }

    static final int DEPTH = 400;
    static long sink;

    static long deep(int depth, int[] data) { return depth == 1 ? leaf(data) : deep(depth - 1, data) + 1; }
    static long leaf(int[] data) {
        long sum = 0;
        for (int k = 0; k < 3000; k++) for (int x : data) sum = sum * 31 + x;
        return sum;
    }
    static double areas(Shape[] shapes) {
        double sum = 0;
        for (int k = 0; k < 200; k++) for (Shape shape : shapes) sum += shape.area();
        return sum;
    }
    static int thrown(int depth) {
        if (depth == 0) throw new IllegalStateException("deep");
        return thrown(depth - 1) + 1;
    }
    static int caught() {
        try { return thrown(20); } catch (IllegalStateException e) { return e.getMessage().length(); }
    }
    static int maps() {
        Map<String, Integer> map = new TreeMap<>();
        for (int i = 0; i < 300; i++) map.merge("k" + i % 97, i, Integer::sum);
        return map.values().stream().filter(x -> x % 3 == 0).mapToInt(x -> x).sum();
    }
    static int sorted(Integer[] data) {
        Integer[] copy = data.clone();
        Arrays.sort(copy, Comparator.comparing((Integer x) -> x % 1000).thenComparing(Comparator.reverseOrder()));
        return copy[0];
    }
    static long once(long seed) {
        long x = seed;
        for (int i = 0; i < 200_000; i++) x = x * 6364136223846793005L + i;
        return x;
    }
    static String texts(int n) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < n; i++) text.append(i).append(',').append(Integer.toHexString(i * 7919));
        return text.toString().replace(",", ";");
    }

    public static void main(String[] arguments) throws Exception {
        int[] data = new Random(1).ints(50).toArray();
        Integer[] boxed = new Random(2).ints(2000).boxed().toArray(Integer[]::new);
        Shape[] shapes = new Shape[300];
        for (int i = 0; i < shapes.length; i++) shapes[i] = i % 3 == 0 ? new Square(i) : i % 3 == 1 ? new Circle(i) : new Ring(i, 1);
        List<Supplier<Object>> all = List.of(() -> deep(DEPTH, data), () -> areas(shapes), Live::caught, Live::maps, () -> sorted(boxed), () -> once(sink), () -> texts(200));
        System.out.println("ready");
        long end = System.nanoTime() + (long) (Double.parseDouble(arguments[0]) * 1e9);
        for (int i = 0; System.nanoTime() < end; i++) sink += all.get(i % all.size()).get().hashCode();
        System.out.println("done");
    }
}
