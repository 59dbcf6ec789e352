-- queries/runs/make_text_key.sql
-- Once per store, from the server's own strong source of randomness: three version 4 ids hold 366 random bits.
insert into dream.meta (id, text_key)
values (1, sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())))
on conflict do nothing
