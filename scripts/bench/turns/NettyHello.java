// A server that answers every request with some words, for scripts/bench/turns.sh: Netty, whose event loops read and write. Arguments: port, loops.

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import java.nio.charset.StandardCharsets;

class NettyHello {
    static final byte[] ANSWER = "Hello, and well met.\n".getBytes(StandardCharsets.UTF_8);

    static class Answers extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
            var answer = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, Unpooled.wrappedBuffer(ANSWER));
            answer.headers().set("Content-Length", ANSWER.length);
            context.writeAndFlush(answer);
        }
    }

    public static void main(String[] words) throws Exception {
        var loops = new MultiThreadIoEventLoopGroup(Integer.parseInt(words[1]), NioIoHandler.newFactory());
        new ServerBootstrap()
            .group(loops)
            .channel(NioServerSocketChannel.class)
            .childHandler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel channel) {
                    channel.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(65536), new Answers());
                }
            })
            .bind("127.0.0.1", Integer.parseInt(words[0]))
            .sync().channel().closeFuture().sync();
    }
}
