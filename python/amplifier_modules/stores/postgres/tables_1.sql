CREATE SEQUENCE {schema}.session_number;
CREATE SEQUENCE {schema}.inbox_id;

CREATE TABLE {schema}.session (
    number bigint PRIMARY KEY DEFAULT nextval('{schema}.session_number'),
    tenant text NOT NULL,
    id text NOT NULL,
    -- The number of the first of those that it began or forked from: they share long texts.
    tree bigint NOT NULL,
    parent text,
    call text,
    base text,
    base_seq bigint NOT NULL,
    epoch bigint NOT NULL,
    head bigint NOT NULL,
    owner text,
    due double precision,
    written double precision NOT NULL,
    -- NULL of a session that was deleted, and whose events a fork has.
    meta text,
    agent text,
    UNIQUE (tenant, id)
) WITH (fillfactor = 70);
CREATE INDEX session_due ON {schema}.session (tenant, due) WHERE due IS NOT NULL;
CREATE INDEX session_tree ON {schema}.session (tree);

CREATE TABLE {schema}.event (
    tenant text NOT NULL,
    session bigint NOT NULL,
    seq bigint NOT NULL,
    epoch bigint NOT NULL,
    kind text NOT NULL,
    body text NOT NULL,
    crc bigint NOT NULL,
    PRIMARY KEY (session, seq)
);

CREATE TABLE {schema}.blob (
    tenant text NOT NULL,
    tree bigint NOT NULL,
    -- Whether it is the body of an event, which may name others; else a part of a text in one.
    is_body boolean NOT NULL,
    hash text NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (tree, is_body, hash)
);

CREATE TABLE {schema}.inbox (
    tenant text NOT NULL,
    session bigint NOT NULL,
    id bigint NOT NULL DEFAULT nextval('{schema}.inbox_id'),
    kind text NOT NULL,
    body text NOT NULL,
    due double precision,
    -- Of the call that put it: the same call, made again, puts nothing more.
    nonce bigint NOT NULL,
    done_seq bigint,
    crc bigint NOT NULL,
    PRIMARY KEY (session, id)
);
CREATE INDEX inbox_waiting ON {schema}.inbox (session, id) WHERE done_seq IS NULL;

ALTER TABLE {schema}.session ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE {schema}.event ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE {schema}.blob ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE {schema}.inbox ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY own ON {schema}.session USING (tenant = current_setting('amplifier.tenant', true));
CREATE POLICY own ON {schema}.event USING (tenant = current_setting('amplifier.tenant', true));
CREATE POLICY own ON {schema}.blob USING (tenant = current_setting('amplifier.tenant', true));
CREATE POLICY own ON {schema}.inbox USING (tenant = current_setting('amplifier.tenant', true));
-- Workers of all tenants find out whose sessions are due.
CREATE POLICY every_due ON {schema}.session FOR SELECT
    USING (current_setting('amplifier.lists_tenants', true) = 'on');
