-- queries/leases/ensure.sql
insert into dream.lease (realm, namespace_id, epoch) values ($1, $2, 0) on conflict do nothing
