import java.net.URI;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/** A query engine that compiles the expressions of a select list to Java, and computes and encodes rows with them. */
public final class Main {
    public interface Projection {
        void project(long[] row, long[] out);
    }

    static final int COLUMNS = 300;

    static String expression(int column) {
        int a = column * 7 % 64, b = column * 13 % 64, c = column % 11 + 2;
        return "out[" + column + "] = row[" + a + "] * " + c + "L + (row[" + b + "] >> " + c % 7 + ") - (row[" + (a + b) % 64 + "] & "
            + (column + 255) + "L);\n";
    }

    /** The source of a class whose methods compute `each` columns. */
    static String source(int each) {
        StringBuilder text = new StringBuilder("public final class Generated implements Main.Projection {\n");
        StringBuilder calls = new StringBuilder();
        for (int from = 0; from < COLUMNS; from += each) {
            text.append("private static void columns").append(from).append("(long[] row, long[] out) {\n");
            for (int column = from; column < Math.min(COLUMNS, from + each); column++) text.append(expression(column));
            text.append("}\n");
            calls.append("columns").append(from).append("(row, out);\n");
        }
        return text.append("public void project(long[] row, long[] out) {\n").append(calls).append("}\n}\n").toString();
    }

    static Projection compile(String source) throws ReflectiveOperationException {
        Map<String, ByteArrayOutputStream> classes = new HashMap<>();
        var compiler = ToolProvider.getSystemJavaCompiler();
        var text = new SimpleJavaFileObject(URI.create("string:///Generated.java"), JavaFileObject.Kind.SOURCE) {
            @Override public CharSequence getCharContent(boolean ignore) {
                return source;
            }
        };
        var files = new ForwardingJavaFileManager<JavaFileManager>(compiler.getStandardFileManager(null, null, null)) {
            @Override public JavaFileObject getJavaFileForOutput(Location place, String name, JavaFileObject.Kind kind, FileObject from) {
                return new SimpleJavaFileObject(URI.create("mem:///" + name + ".class"), kind) {
                    @Override public ByteArrayOutputStream openOutputStream() {
                        return classes.computeIfAbsent(name, key -> new ByteArrayOutputStream());
                    }
                };
            }
        };
        List<String> options = new ArrayList<>(List.of("-classpath", System.getProperty("java.class.path")));
        if (!compiler.getTask(null, files, null, options, null, List.of(text)).call()) throw new IllegalStateException("not compiled");
        ClassLoader loader = new ClassLoader(Main.class.getClassLoader()) {
            @Override protected Class<?> findClass(String name) throws ClassNotFoundException {
                if (!classes.containsKey(name)) throw new ClassNotFoundException(name);
                byte[] code = classes.get(name).toByteArray();
                return defineClass(name, code, 0, code.length);
            }
        };
        return (Projection) loader.loadClass("Generated").getDeclaredConstructor().newInstance();
    }

    /** Writes values in as few bytes as each needs. */
    static int encode(long[] values, byte[] into) {
        int at = 0;
        for (long value : values) {
            long rest = value << 1 ^ value >> 63;
            while ((rest & ~127L) != 0) {
                into[at++] = (byte) (rest | 128);
                rest >>>= 7;
            }
            into[at++] = (byte) rest;
        }
        return at;
    }

    public static void main(String[] words) throws InterruptedException, ReflectiveOperationException {
        Frame.begin(words);
        Frame.every = 0.1;
        Projection projection = compile(source(Frame.slow ? COLUMNS : 20));
        long[][] rows = new long[2][64], outs = new long[2][COLUMNS];
        byte[][] encoded = new byte[2][COLUMNS * 10];
        CRC32C[] sums = {new CRC32C(), new CRC32C()};
        Frame.run("scan", 2, index -> {
            long[] row = rows[index];
            for (int i = 0; i < 20; i++) {
                for (int column = 0; column < row.length; column++) row[column] = row[column] * 25214903917L + column + 11;
                projection.project(row, outs[index]);
                sums[index].update(encoded[index], 0, encode(outs[index], encoded[index]));
            }
        });
        Frame.lostShare(1);
    }
}
