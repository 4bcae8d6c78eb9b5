import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.*;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.*;

public class Gateway {
    public static void main(String[] arguments) throws Exception {
        ServerBootstrap bootstrap = new ServerBootstrap()
            .group(new NioEventLoopGroup(1), new NioEventLoopGroup(1))
            .channel(NioServerSocketChannel.class)
            .childHandler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel channel) {
                    channel.pipeline().addLast(new HttpServerCodec(), new HttpContentDecompressor(), new Forward());
                }
            });
        bootstrap.bind("127.0.0.1", Integer.parseInt(arguments[0])).sync().channel().closeFuture().sync();
    }

    // Sends the body on as it arrives, as a gateway does.
    static class Forward extends SimpleChannelInboundHandler<HttpObject> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, HttpObject part) {
            if (part instanceof HttpRequest) {
                HttpResponse response = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
                response.headers().set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED);
                context.write(response);
            }
            if (part instanceof LastHttpContent) {
                context.writeAndFlush(new DefaultLastHttpContent(((HttpContent) part).content().retain()));
            } else if (part instanceof HttpContent) {
                context.writeAndFlush(new DefaultHttpContent(((HttpContent) part).content().retain()));
            }
        }
    }
}
