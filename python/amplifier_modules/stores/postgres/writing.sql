-- Each function is one transaction: the tenant is set for that alone, as SET LOCAL does.

CREATE OR REPLACE FUNCTION {schema}.entry_crc(
    p_session bigint, p_id bigint, p_done bigint, p_kind text, p_body text
) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT ('x' || encode(substr(sha256(convert_to(
        concat_ws(E'\n', p_session, p_id, p_done, p_kind, p_body), 'UTF8')), 1, 7), 'hex')
    )::bit(56)::bigint
$$;

CREATE OR REPLACE FUNCTION {schema}.begin_session(
    p_tenant text, p_id text, p_origin text, p_parent text, p_call text, p_base text,
    p_base_seq bigint, p_epoch bigint, p_owner text, p_due double precision,
    p_written double precision, p_meta text, p_agent text, p_kind text, p_body text, p_crc bigint,
    p_are_bodies boolean[], p_hashes text[], p_contents bytea[]
) RETURNS TABLE (outcome text) LANGUAGE plpgsql AS $$
DECLARE
    v_number bigint := nextval('{schema}.session_number');
    v_tree bigint := v_number;
BEGIN
    PERFORM set_config('amplifier.tenant', p_tenant, true);
    IF p_origin IS NOT NULL THEN
        -- Nobody deletes it meanwhile.
        SELECT s.tree INTO v_tree FROM {schema}.session s
        WHERE s.tenant = p_tenant AND s.id = p_origin AND s.meta IS NOT NULL FOR SHARE;
        IF NOT FOUND THEN
            RETURN QUERY SELECT 'unknown';
            RETURN;
        END IF;
    END IF;
    INSERT INTO {schema}.session (number, tenant, id, tree, parent, call, base, base_seq, epoch,
        head, owner, due, written, meta, agent)
    VALUES (v_number, p_tenant, p_id, v_tree, p_parent, p_call, p_base, p_base_seq, p_epoch,
        p_base_seq + 1, p_owner, p_due, p_written, p_meta, p_agent)
    ON CONFLICT (tenant, id) DO NOTHING;
    IF NOT FOUND THEN
        RETURN QUERY SELECT CASE WHEN s.written = p_written AND s.epoch = p_epoch
            AND s.owner IS NOT DISTINCT FROM p_owner THEN 'same' ELSE 'exists' END
        FROM {schema}.session s WHERE s.tenant = p_tenant AND s.id = p_id;
        RETURN;
    END IF;
    INSERT INTO {schema}.blob (tenant, tree, is_body, hash, content)
    SELECT p_tenant, v_tree, text.is_body, text.hash, text.content
    FROM unnest(p_are_bodies, p_hashes, p_contents) AS text (is_body, hash, content)
    ON CONFLICT DO NOTHING;
    INSERT INTO {schema}.event (tenant, session, seq, epoch, kind, body, crc)
    VALUES (p_tenant, v_number, p_base_seq + 1, p_epoch, p_kind, p_body, p_crc);
    RETURN QUERY SELECT 'made';
END $$;

CREATE OR REPLACE FUNCTION {schema}.claim_session(
    p_tenant text, p_id text, p_owner text, p_due double precision
) RETURNS TABLE (epoch bigint, head bigint) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('amplifier.tenant', p_tenant, true);
    RETURN QUERY UPDATE {schema}.session s SET epoch = s.epoch + 1, owner = p_owner, due = p_due
    WHERE s.tenant = p_tenant AND s.id = p_id AND s.meta IS NOT NULL
    RETURNING s.epoch, s.head;
END $$;

CREATE OR REPLACE FUNCTION {schema}.append_events(
    p_tenant text, p_id text, p_epoch bigint, p_head bigint, p_kinds text[], p_bodies text[],
    p_crcs bigint[], p_are_bodies boolean[], p_hashes text[], p_contents bytea[], p_done bigint[],
    p_meta text, p_agent text, p_written double precision
) RETURNS TABLE (outcome text, epoch bigint, head bigint) LANGUAGE plpgsql AS $$
DECLARE
    v_head bigint;
    v_used bigint[];
BEGIN
    PERFORM set_config('amplifier.tenant', p_tenant, true);
    WITH owned AS (
        UPDATE {schema}.session s
        SET head = s.head + cardinality(p_kinds), written = p_written,
            meta = coalesce(p_meta, s.meta),
            agent = CASE WHEN p_meta IS NULL THEN s.agent ELSE p_agent END
        WHERE s.tenant = p_tenant AND s.id = p_id AND s.epoch = p_epoch AND s.head = p_head
            AND s.meta IS NOT NULL
        RETURNING s.number, s.tree, s.head
    ), texts AS (
        INSERT INTO {schema}.blob (tenant, tree, is_body, hash, content)
        SELECT p_tenant, owned.tree, text.is_body, text.hash, text.content
        FROM owned, unnest(p_are_bodies, p_hashes, p_contents) AS text (is_body, hash, content)
        ON CONFLICT DO NOTHING
    ), added AS (
        INSERT INTO {schema}.event (tenant, session, seq, epoch, kind, body, crc)
        SELECT p_tenant, owned.number, p_head + new.place, p_epoch, new.kind, new.body, new.crc
        FROM owned, unnest(p_kinds, p_bodies, p_crcs) WITH ORDINALITY
            AS new (kind, body, crc, place)
    ), used AS (
        UPDATE {schema}.inbox i
        SET done_seq = owned.head,
            crc = {schema}.entry_crc(i.session, i.id, owned.head, i.kind, i.body)
        FROM owned
        WHERE i.session = owned.number AND i.id = ANY (p_done) AND i.done_seq IS NULL
        RETURNING i.id
    )
    SELECT owned.head, ARRAY(SELECT used.id FROM used) INTO v_head, v_used FROM owned;
    IF NOT FOUND THEN
        RETURN QUERY SELECT CASE WHEN s.epoch <> p_epoch THEN 'stale' ELSE 'behind' END, s.epoch,
            s.head
        FROM {schema}.session s
        WHERE s.tenant = p_tenant AND s.id = p_id AND s.meta IS NOT NULL;
        RETURN;
    END IF;
    IF cardinality(v_used) <> cardinality(p_done) THEN
        RAISE EXCEPTION 'no entry' USING ERRCODE = 'AMP01', DETAIL = (
            SELECT coalesce(min(d.id) FILTER (WHERE d.id <> ALL (v_used)), min(d.id))
            FROM unnest(p_done) AS d (id)
        );
    END IF;
    RETURN QUERY SELECT 'added', p_epoch, v_head;
END $$;

CREATE OR REPLACE FUNCTION {schema}.put_entry(
    p_tenant text, p_id text, p_kind text, p_body text, p_due double precision, p_nonce bigint
) RETURNS TABLE (id bigint) LANGUAGE plpgsql AS $$
DECLARE
    v_number bigint;
    v_owner text;
    v_entry bigint;
BEGIN
    PERFORM set_config('amplifier.tenant', p_tenant, true);
    SELECT s.number, s.owner INTO v_number, v_owner FROM {schema}.session s
    WHERE s.tenant = p_tenant AND s.id = p_id AND s.meta IS NOT NULL FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT i.id INTO v_entry FROM {schema}.inbox i
    WHERE i.session = v_number AND i.nonce = p_nonce;
    IF NOT FOUND THEN
        v_entry := nextval('{schema}.inbox_id');
        INSERT INTO {schema}.inbox (tenant, session, id, kind, body, due, nonce, crc)
        VALUES (p_tenant, v_number, v_entry, p_kind, p_body, p_due, p_nonce,
            {schema}.entry_crc(v_number, v_entry, 0, p_kind, p_body));
        IF v_owner IS NULL AND p_due IS NOT NULL THEN
            UPDATE {schema}.session s SET due = least(s.due, p_due) WHERE s.number = v_number;
        END IF;
    END IF;
    RETURN QUERY SELECT v_entry;
END $$;

CREATE OR REPLACE FUNCTION {schema}.renew_claim(
    p_tenant text, p_id text, p_epoch bigint, p_due double precision, p_ends boolean
) RETURNS TABLE (outcome text, epoch bigint) LANGUAGE plpgsql AS $$
DECLARE
    v_number bigint;
    v_epoch bigint;
    v_owner text;
BEGIN
    PERFORM set_config('amplifier.tenant', p_tenant, true);
    -- Locked by a statement of its own: the next one sees the entry of whoever had the lock.
    SELECT s.number, s.epoch, s.owner INTO v_number, v_epoch, v_owner FROM {schema}.session s
    WHERE s.tenant = p_tenant AND s.id = p_id AND s.meta IS NOT NULL FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF v_epoch <> p_epoch THEN
        RETURN QUERY SELECT 'stale', v_epoch;
        RETURN;
    END IF;
    IF p_ends THEN
        v_owner := NULL;
    END IF;
    UPDATE {schema}.session s
    SET owner = v_owner, due = CASE WHEN v_owner IS NOT NULL THEN p_due ELSE least(p_due, (
        SELECT min(i.due) FROM {schema}.inbox i WHERE i.session = v_number AND i.done_seq IS NULL
    )) END
    WHERE s.number = v_number;
    RETURN QUERY SELECT 'set', v_epoch;
END $$;

CREATE OR REPLACE FUNCTION {schema}.take_due(
    p_tenant text, p_owner text, p_now double precision, p_due double precision, p_agents text[]
) RETURNS TABLE (id text, epoch bigint, head bigint) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('amplifier.tenant', p_tenant, true);
    RETURN QUERY UPDATE {schema}.session s SET epoch = s.epoch + 1, owner = p_owner, due = p_due
    WHERE s.number = (
        SELECT w.number FROM {schema}.session w
        WHERE w.tenant = p_tenant AND w.due <= p_now
            AND (p_agents IS NULL OR w.agent = ANY (p_agents))
        ORDER BY w.due LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
    )
    RETURNING s.id, s.epoch, s.head;
END $$;

CREATE OR REPLACE FUNCTION {schema}.take_session(
    p_tenant text, p_number bigint, p_owner text, p_now double precision, p_due double precision
) RETURNS TABLE (id text, epoch bigint, head bigint) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('amplifier.tenant', p_tenant, true);
    RETURN QUERY UPDATE {schema}.session s SET epoch = s.epoch + 1, owner = p_owner, due = p_due
    WHERE s.number = (
        SELECT w.number FROM {schema}.session w
        WHERE w.tenant = p_tenant AND w.number = p_number AND w.due <= p_now
        FOR NO KEY UPDATE SKIP LOCKED
    )
    RETURNING s.id, s.epoch, s.head;
END $$;

CREATE OR REPLACE FUNCTION {schema}.delete_session(p_tenant text, p_id text)
RETURNS TABLE (number bigint) LANGUAGE plpgsql AS $$
DECLARE
    v_number bigint;
    v_tree bigint;
    v_removed bigint;
BEGIN
    PERFORM set_config('amplifier.tenant', p_tenant, true);
    SELECT s.tree INTO v_tree FROM {schema}.session s WHERE s.tenant = p_tenant AND s.id = p_id;
    -- Until this ends nobody adds to those that share its long texts, or forks them.
    PERFORM 1 FROM {schema}.session s WHERE s.tree = v_tree ORDER BY s.number FOR UPDATE;
    SELECT s.number INTO v_number FROM {schema}.session s
    WHERE s.tenant = p_tenant AND s.id = p_id AND s.meta IS NOT NULL;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    WITH RECURSIVE gone AS (
        SELECT s.number, s.id FROM {schema}.session s WHERE s.number = v_number
        UNION ALL
        SELECT c.number, c.id FROM {schema}.session c JOIN gone ON c.parent = gone.id
        WHERE c.tree = v_tree AND c.meta IS NOT NULL
    ), emptied AS (
        DELETE FROM {schema}.inbox i USING gone WHERE i.session = gone.number
    )
    UPDATE {schema}.session s SET meta = NULL, agent = NULL, owner = NULL, due = NULL
    FROM gone WHERE s.number = gone.number;
    LOOP
        WITH removed AS (
            DELETE FROM {schema}.session s
            WHERE s.tree = v_tree AND s.meta IS NULL AND NOT EXISTS (
                SELECT 1 FROM {schema}.session f WHERE f.tree = v_tree AND f.base = s.id
            )
            RETURNING s.number
        ), emptied AS (
            DELETE FROM {schema}.event e USING removed WHERE e.session = removed.number
        )
        SELECT count(*) INTO v_removed FROM removed;
        EXIT WHEN v_removed = 0;
    END LOOP;
    -- Of the others, what no fork has.
    DELETE FROM {schema}.event e USING {schema}.session s
    WHERE s.tree = v_tree AND s.meta IS NULL AND e.session = s.number AND e.seq > (
        SELECT max(f.base_seq) FROM {schema}.session f WHERE f.tree = v_tree AND f.base = s.id
    );
    DELETE FROM {schema}.blob b WHERE b.tree = v_tree AND b.hash NOT IN (
        SELECT found.hash[1] FROM (
            SELECT e.body FROM {schema}.event e JOIN {schema}.session s ON s.number = e.session
            WHERE s.tree = v_tree AND e.body LIKE '%"$blob"%'
            UNION ALL
            SELECT convert_from(c.content, 'UTF8') FROM {schema}.blob c
            WHERE c.tree = v_tree AND c.is_body
        ) AS text (body), regexp_matches(text.body, '\m[0-9a-f]{64}\M', 'g') AS found (hash)
    );
    RETURN QUERY SELECT v_number;
END $$;
