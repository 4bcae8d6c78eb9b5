import java.io.*;
import java.util.*;
import org.apache.commons.fileupload.*;
import org.apache.commons.fileupload.disk.DiskFileItemFactory;

public class Upload {
    public static void main(String[] arguments) throws Exception {
        int seconds = Integer.parseInt(arguments[0]);
        String boundary = "b".repeat(Integer.parseInt(arguments[1]));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(("--" + boundary + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.bin\"\r\n\r\n").getBytes());
        byte[] content = new byte[20000];
        new Random(5).nextBytes(content);
        out.write(content);
        out.write(("\r\n--" + boundary + "--\r\n").getBytes());
        byte[] body = out.toByteArray();

        FileUpload upload = new FileUpload(new DiskFileItemFactory(1 << 20, null));
        long begin = System.nanoTime(), said = begin, done = 0;
        while (System.nanoTime() - begin < seconds * 1_000_000_000L) {
            List<FileItem> items = upload.parseRequest(new RequestContext() {
                public String getCharacterEncoding() { return null; }
                public String getContentType() { return "multipart/form-data; boundary=" + boundary; }
                public int getContentLength() { return body.length; }
                public InputStream getInputStream() { return new ByteArrayInputStream(body); }
            });
            if (items.get(0).getSize() != content.length) throw new IllegalStateException();
            done++;
            if (System.nanoTime() - said > 500_000_000L) {
                said = System.nanoTime();
                System.out.println("done " + done);
            }
        }
        System.out.println("done " + done);
    }
}
