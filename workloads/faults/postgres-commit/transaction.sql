insert into events (kind, text) values (1, 'something happened, and this is what is known of it');
