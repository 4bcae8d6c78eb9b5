-- cause tls-handshakes: TLS sessions are negotiated anew instead of being kept
-- layer: io
-- page: profiles network
-- needs: thread_time sample
-- before: syscalls context-switches too-few-threads jit
-- says: TLS handshakes take {slow:s} of CPU time and waiting per unit of work (baseline {against:s})
-- evidence: of it CPU time: {cpu:s}
-- check: openssl s_time; ssldump or tcpdump: a ClientHello for each request; nginx $ssl_session_reused
-- try: keep connections alive on both sides; session tickets or a session cache, shared by all workers
-- try: a certificate with an elliptic-curve key: signing with RSA 2048 takes about ten times as long
-- experiment: parameter keep-alive: off on
-- see: RFC 8446, section 2.2
-- claims:
select 'handshakes' as subject, cell, 1.0 as part from budget
where state not in ('idle', 'fewer_threads', 'runnable')
  and (path glob '*;SSL_do_handshake;*' or path glob '*;SSL_connect;*' or path glob '*;SSL_accept;*'
       or path glob '*;gnutls_handshake;*' or path glob '*;mbedtls_ssl_handshake;*'
       or path glob '*;crypto/tls.([*]Conn).*andshake*' or path glob '*;sun.security.ssl.*Handshake*'
       or path glob '*;rustls::*handshake*' or path glob '*;rustls::*ExpectServerHello*')
-- tells:
select sum(b.slow) as cpu from claimed c join budget b on b.cell = c.cell where b.state in ('user', 'kernel')
-- test claims: a client that connects anew for each request
-- budget* state=user path=';main;get;SSL_connect;state_machine;tls_process_cert_verify;EVP_DigestVerify;' slow=3
-- budget* state=network path=';main;get;SSL_connect;BIO_read;read;' slow=1
-- budget state=user path=';main;get;SSL_read;' slow=1 against=1
-- says 'TLS handshakes take 4 s of CPU time and waiting per operation (baseline 0 s)'
-- test refuses: encrypting more data
-- budget state=user path=';main;get;SSL_read;EVP_DecryptUpdate;' slow=4 against=1
