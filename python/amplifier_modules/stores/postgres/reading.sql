CREATE OR REPLACE FUNCTION {schema}.list_sessions(p_tenant text)
RETURNS SETOF {schema}.session LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('amplifier.tenant', p_tenant, true);
    RETURN QUERY SELECT * FROM {schema}.session s
    WHERE s.tenant = p_tenant AND s.meta IS NOT NULL ORDER BY s.written DESC, s.number DESC;
END $$;

-- A session and those that it is a fork of, and its last event as the rows have it.
CREATE OR REPLACE FUNCTION {schema}.find_session(p_tenant text, p_id text)
RETURNS TABLE (
    number bigint, tree bigint, id text, parent text, call text, base text, base_seq bigint,
    epoch bigint, head bigint, owner text, due double precision, written double precision,
    meta text, last_seq bigint
) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('amplifier.tenant', p_tenant, true);
    RETURN QUERY WITH RECURSIVE chain AS (
        SELECT 0 AS step, s.* FROM {schema}.session s
        WHERE s.tenant = p_tenant AND s.id = p_id AND s.meta IS NOT NULL
        UNION ALL
        SELECT chain.step + 1, b.* FROM chain JOIN {schema}.session b
            ON b.tenant = p_tenant AND b.id = chain.base AND b.base_seq < chain.base_seq
    )
    SELECT c.number, c.tree, c.id, c.parent, c.call, c.base, c.base_seq, c.epoch, c.head,
        c.owner, c.due, c.written, c.meta, CASE WHEN c.step = 0 THEN (
            SELECT max(e.seq) FROM {schema}.event e WHERE e.session = c.number
        ) END
    FROM chain c ORDER BY c.step;
END $$;

CREATE OR REPLACE FUNCTION {schema}.read_events(
    p_tenant text, p_sessions bigint[], p_firsts bigint[], p_lasts bigint[]
) RETURNS TABLE (seq bigint, epoch bigint, kind text, body text, crc bigint)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('amplifier.tenant', p_tenant, true);
    RETURN QUERY SELECT e.seq, e.epoch, e.kind, e.body, e.crc
    FROM unnest(p_sessions, p_firsts, p_lasts) AS part (session, first, last)
    JOIN {schema}.event e ON e.session = part.session AND e.seq BETWEEN part.first AND part.last
    ORDER BY e.seq;
END $$;

CREATE OR REPLACE FUNCTION {schema}.read_texts(p_tenant text, p_tree bigint, p_hashes text[])
RETURNS TABLE (hash text, content bytea) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('amplifier.tenant', p_tenant, true);
    RETURN QUERY SELECT DISTINCT ON (b.hash) b.hash, b.content FROM {schema}.blob b
    WHERE b.tree = p_tree AND b.hash = ANY (p_hashes);
END $$;

-- One row without an entry of a session whose inbox is empty, none of a session that is unknown.
CREATE OR REPLACE FUNCTION {schema}.list_entries(p_tenant text, p_id text)
RETURNS TABLE (session bigint, id bigint, kind text, body text, crc bigint)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('amplifier.tenant', p_tenant, true);
    RETURN QUERY SELECT s.number, i.id, i.kind, i.body, i.crc FROM {schema}.session s
    LEFT JOIN {schema}.inbox i ON i.session = s.number AND i.done_seq IS NULL
    WHERE s.tenant = p_tenant AND s.id = p_id AND s.meta IS NOT NULL ORDER BY i.id;
END $$;

CREATE OR REPLACE FUNCTION {schema}.list_due(
    p_tenant text, p_now double precision, p_agents text[], p_due double precision,
    p_number bigint, p_count integer
) RETURNS SETOF {schema}.session LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('amplifier.tenant', p_tenant, true);
    RETURN QUERY SELECT * FROM {schema}.session s
    WHERE s.tenant = p_tenant AND s.due <= p_now AND s.due >= p_due
        AND (s.due, s.number) > (p_due, p_number)
        AND (p_agents IS NULL OR s.agent = ANY (p_agents))
    ORDER BY s.due, s.number LIMIT p_count;
END $$;

CREATE OR REPLACE FUNCTION {schema}.list_due_tenants(p_now double precision)
RETURNS TABLE (tenant text) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('amplifier.lists_tenants', 'on', true);
    RETURN QUERY WITH RECURSIVE first AS (
        (SELECT s.tenant, s.due FROM {schema}.session s WHERE s.due IS NOT NULL
        ORDER BY s.tenant, s.due LIMIT 1)
        UNION ALL
        SELECT next.tenant, next.due FROM first CROSS JOIN LATERAL (
            SELECT s.tenant, s.due FROM {schema}.session s
            WHERE s.due IS NOT NULL AND s.tenant > first.tenant ORDER BY s.tenant, s.due LIMIT 1
        ) AS next
    )
    SELECT first.tenant FROM first WHERE first.due <= p_now ORDER BY first.due;
END $$;
