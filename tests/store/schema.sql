ALTER TABLE ONLY public.alert_channel
    ADD CONSTRAINT alert_channel_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.alert_delivery
    ADD CONSTRAINT alert_delivery_channel_id_51427e79_fk_alert_channel_name FOREIGN KEY (channel_id) REFERENCES public.alert_channel(name) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.alert_delivery
    ADD CONSTRAINT alert_delivery_once UNIQUE (channel_id, key, event, began_at);

ALTER TABLE ONLY public.alert_delivery
    ADD CONSTRAINT alert_delivery_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.alert_rule
    ADD CONSTRAINT alert_rule_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.alert_settings
    ADD CONSTRAINT alert_settings_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.alert_state
    ADD CONSTRAINT alert_state_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.api_token
    ADD CONSTRAINT api_token_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.api_token
    ADD CONSTRAINT api_token_prefix_key UNIQUE (prefix);

ALTER TABLE ONLY public.api_token
    ADD CONSTRAINT api_token_user_id_b646d2e7_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.attempt
    ADD CONSTRAINT attempt_pkey PRIMARY KEY (token);

ALTER TABLE ONLY public.attempt
    ADD CONSTRAINT attempt_task_id_e51ebc25_fk_task_id FOREIGN KEY (task_id) REFERENCES public.task(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.audit_entry
    ADD CONSTRAINT audit_entry_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audit_head
    ADD CONSTRAINT audit_head_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.auth_group
    ADD CONSTRAINT auth_group_name_key UNIQUE (name);

ALTER TABLE ONLY public.auth_group
    ADD CONSTRAINT auth_group_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissio_permission_id_84c5c92e_fk_auth_perm FOREIGN KEY (permission_id) REFERENCES public.auth_permission(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissions_group_id_b120cbf9_fk_auth_group_id FOREIGN KEY (group_id) REFERENCES public.auth_group(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissions_group_id_permission_id_0cd325b0_uniq UNIQUE (group_id, permission_id);

ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.auth_permission
    ADD CONSTRAINT auth_permission_content_type_id_2f476e4b_fk_django_co FOREIGN KEY (content_type_id) REFERENCES public.django_content_type(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.auth_permission
    ADD CONSTRAINT auth_permission_content_type_id_codename_01ab375a_uniq UNIQUE (content_type_id, codename);

ALTER TABLE ONLY public.auth_permission
    ADD CONSTRAINT auth_permission_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.auth_user
    ADD CONSTRAINT auth_user_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.auth_user
    ADD CONSTRAINT auth_user_username_key UNIQUE (username);

ALTER TABLE ONLY public.auth_user_groups
    ADD CONSTRAINT auth_user_groups_group_id_97559544_fk_auth_group_id FOREIGN KEY (group_id) REFERENCES public.auth_group(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.auth_user_groups
    ADD CONSTRAINT auth_user_groups_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.auth_user_groups
    ADD CONSTRAINT auth_user_groups_user_id_6a12ed8b_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.auth_user_groups
    ADD CONSTRAINT auth_user_groups_user_id_group_id_94350c0c_uniq UNIQUE (user_id, group_id);

ALTER TABLE ONLY public.auth_user_user_permissions
    ADD CONSTRAINT auth_user_user_permi_permission_id_1fbb5f2c_fk_auth_perm FOREIGN KEY (permission_id) REFERENCES public.auth_permission(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.auth_user_user_permissions
    ADD CONSTRAINT auth_user_user_permissions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.auth_user_user_permissions
    ADD CONSTRAINT auth_user_user_permissions_user_id_a95ead1b_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.auth_user_user_permissions
    ADD CONSTRAINT auth_user_user_permissions_user_id_permission_id_14a6b632_uniq UNIQUE (user_id, permission_id);

ALTER TABLE ONLY public.axes_accessattempt
    ADD CONSTRAINT axes_accessattempt_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.axes_accessattempt
    ADD CONSTRAINT axes_accessattempt_username_ip_address_user_agent_8ea22282_uniq UNIQUE (username, ip_address, user_agent);

ALTER TABLE ONLY public.axes_accessattemptexpiration
    ADD CONSTRAINT axes_accessattemptex_access_attempt_id_6b73a47a_fk_axes_acce FOREIGN KEY (access_attempt_id) REFERENCES public.axes_accessattempt(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.axes_accessattemptexpiration
    ADD CONSTRAINT axes_accessattemptexpiration_pkey PRIMARY KEY (access_attempt_id);

ALTER TABLE ONLY public.axes_accessfailurelog
    ADD CONSTRAINT axes_accessfailurelog_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.axes_accesslog
    ADD CONSTRAINT axes_accesslog_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.breaker_state
    ADD CONSTRAINT breaker_state_pkey PRIMARY KEY (scope, name);

ALTER TABLE ONLY public.bulk
    ADD CONSTRAINT bulk_key_key UNIQUE (key);

ALTER TABLE ONLY public.bulk
    ADD CONSTRAINT bulk_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.bulk_item
    ADD CONSTRAINT bulk_item_pkey PRIMARY KEY (bulk_id, place);

ALTER TABLE ONLY public.capability
    ADD CONSTRAINT capability_pkey PRIMARY KEY (worker_id, kind);

ALTER TABLE ONLY public.capability
    ADD CONSTRAINT capability_worker_id_ff6aed69_fk_worker_id FOREIGN KEY (worker_id) REFERENCES public.worker(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.dead_group
    ADD CONSTRAINT dead_group_pkey PRIMARY KEY (fingerprint);

ALTER TABLE ONLY public.death
    ADD CONSTRAINT death_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.dependency
    ADD CONSTRAINT dependency_depends_on_id_104e5aa9_fk_task_id FOREIGN KEY (depends_on_id) REFERENCES public.task(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.dependency
    ADD CONSTRAINT dependency_name_once UNIQUE (task_id, name);

ALTER TABLE ONLY public.dependency
    ADD CONSTRAINT dependency_pkey PRIMARY KEY (task_id, depends_on_id);

ALTER TABLE ONLY public.dependency
    ADD CONSTRAINT dependency_task_id_44cb49aa_fk_task_id FOREIGN KEY (task_id) REFERENCES public.task(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.django_admin_log
    ADD CONSTRAINT django_admin_log_content_type_id_c4bce8eb_fk_django_co FOREIGN KEY (content_type_id) REFERENCES public.django_content_type(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.django_admin_log
    ADD CONSTRAINT django_admin_log_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.django_admin_log
    ADD CONSTRAINT django_admin_log_user_id_c564eba6_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.django_content_type
    ADD CONSTRAINT django_content_type_app_label_model_76bd3d3b_uniq UNIQUE (app_label, model);

ALTER TABLE ONLY public.django_content_type
    ADD CONSTRAINT django_content_type_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.django_migrations
    ADD CONSTRAINT django_migrations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.django_session
    ADD CONSTRAINT django_session_pkey PRIMARY KEY (session_key);

ALTER TABLE ONLY public.effect
    ADD CONSTRAINT effect_pkey PRIMARY KEY (task_id, name);

ALTER TABLE ONLY public.effect
    ADD CONSTRAINT effect_task_id_3b833a87_fk_task_id FOREIGN KEY (task_id) REFERENCES public.task(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.heartbeat
    ADD CONSTRAINT heartbeat_pkey PRIMARY KEY (worker_id);

ALTER TABLE ONLY public.heartbeat
    ADD CONSTRAINT heartbeat_worker_id_eef4ffa8_fk_worker_id FOREIGN KEY (worker_id) REFERENCES public.worker(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.job
    ADD CONSTRAINT job_key_key UNIQUE (key);

ALTER TABLE ONLY public.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.job_news
    ADD CONSTRAINT job_news_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.job_turn
    ADD CONSTRAINT job_turn_kind_id_c3768f31_fk_kind_name FOREIGN KEY (kind_id) REFERENCES public.kind(name) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.job_turn
    ADD CONSTRAINT job_turn_pkey PRIMARY KEY (kind_id, priority, job_id);

ALTER TABLE ONLY public.kind
    ADD CONSTRAINT kind_limit_name_9a65fc29_fk_shared_limit_name FOREIGN KEY (limit_name) REFERENCES public.shared_limit(name) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.kind
    ADD CONSTRAINT kind_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.late_result
    ADD CONSTRAINT late_result_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.leader
    ADD CONSTRAINT leader_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.lease
    ADD CONSTRAINT lease_pkey PRIMARY KEY (task_id);

ALTER TABLE ONLY public.lease
    ADD CONSTRAINT lease_task_id_844fb46e_fk_task_id FOREIGN KEY (task_id) REFERENCES public.task(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.lease
    ADD CONSTRAINT lease_worker_id_d3d41f52_fk_worker_id FOREIGN KEY (worker_id) REFERENCES public.worker(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.limit_state
    ADD CONSTRAINT limit_state_limit_id_b35b47ea_fk_shared_limit_name FOREIGN KEY (limit_id) REFERENCES public.shared_limit(name) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.limit_state
    ADD CONSTRAINT limit_state_pkey PRIMARY KEY (limit_id);

ALTER TABLE ONLY public.near_miss
    ADD CONSTRAINT near_miss_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.near_miss
    ADD CONSTRAINT near_miss_worker_id_c096bb52_fk_worker_id FOREIGN KEY (worker_id) REFERENCES public.worker(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.pruned
    ADD CONSTRAINT pruned_pkey PRIMARY KEY (hour, what);

ALTER TABLE ONLY public.replica
    ADD CONSTRAINT replica_pkey PRIMARY KEY (holder);

ALTER TABLE ONLY public.request_rate
    ADD CONSTRAINT request_rate_pkey PRIMARY KEY (subject);

ALTER TABLE ONLY public.retention_settings
    ADD CONSTRAINT retention_settings_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.retry_credit
    ADD CONSTRAINT retry_credit_kind_id_5b4b9bb3_fk_kind_name FOREIGN KEY (kind_id) REFERENCES public.kind(name) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.retry_credit
    ADD CONSTRAINT retry_credit_pkey PRIMARY KEY (kind_id);

ALTER TABLE ONLY public.round_robin_cursor
    ADD CONSTRAINT round_robin_cursor_kind_id_7b2e6ec2_fk_kind_name FOREIGN KEY (kind_id) REFERENCES public.kind(name) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.round_robin_cursor
    ADD CONSTRAINT round_robin_cursor_pkey PRIMARY KEY (kind_id);

ALTER TABLE ONLY public.sample
    ADD CONSTRAINT sample_pkey PRIMARY KEY (resolution, at);

ALTER TABLE ONLY public.saved_search
    ADD CONSTRAINT saved_search_name_once UNIQUE (owner_id, name);

ALTER TABLE ONLY public.saved_search
    ADD CONSTRAINT saved_search_owner_id_bcf46548_fk_auth_user_id FOREIGN KEY (owner_id) REFERENCES public.auth_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.saved_search
    ADD CONSTRAINT saved_search_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.search_pin
    ADD CONSTRAINT search_pin_pkey PRIMARY KEY (user_id, search_id);

ALTER TABLE ONLY public.search_pin
    ADD CONSTRAINT search_pin_search_id_c99dcaa2_fk_saved_search_id FOREIGN KEY (search_id) REFERENCES public.saved_search(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.search_pin
    ADD CONSTRAINT search_pin_user_id_a8764943_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.settled
    ADD CONSTRAINT settled_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.shared_limit
    ADD CONSTRAINT shared_limit_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.shift
    ADD CONSTRAINT shift_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.status_count
    ADD CONSTRAINT status_count_pkey PRIMARY KEY (kind, status);

ALTER TABLE ONLY public.status_delta
    ADD CONSTRAINT status_delta_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.step_task
    ADD CONSTRAINT step_task_pkey PRIMARY KEY (task_id);

ALTER TABLE ONLY public.step_task
    ADD CONSTRAINT step_task_task_id_a095f1a3_fk_task_id FOREIGN KEY (task_id) REFERENCES public.task(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.step_task
    ADD CONSTRAINT step_task_undoes_id_adbdf97b_fk_task_id FOREIGN KEY (undoes_id) REFERENCES public.task(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.step_task
    ADD CONSTRAINT step_task_undoes_id_key UNIQUE (undoes_id);

ALTER TABLE ONLY public.supervisor_settings
    ADD CONSTRAINT supervisor_settings_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.task
    ADD CONSTRAINT task_job_id_8b4b633e_fk_job_id FOREIGN KEY (job_id) REFERENCES public.job(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.task
    ADD CONSTRAINT task_kind_36fd6dec_fk_kind_name FOREIGN KEY (kind) REFERENCES public.kind(name) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.task
    ADD CONSTRAINT task_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.task_log
    ADD CONSTRAINT task_log_pkey PRIMARY KEY (token);

ALTER TABLE ONLY public.task_log
    ADD CONSTRAINT task_log_task_id_5afda5be_fk_task_id FOREIGN KEY (task_id) REFERENCES public.task(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.worker
    ADD CONSTRAINT worker_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.worker
    ADD CONSTRAINT worker_user_id_ae1f6b3c_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.worker
    ADD CONSTRAINT worker_user_id_key UNIQUE (user_id);

ALTER TABLE public.api_token ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.api_token_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE public.audit_entry ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.audit_entry_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE public.auth_group ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_group_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE public.auth_group_permissions ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_group_permissions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE public.auth_permission ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_permission_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE public.auth_user ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_user_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE public.auth_user_groups ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_user_groups_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE public.auth_user_user_permissions ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_user_user_permissions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE public.axes_accessattempt ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.axes_accessattempt_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE public.axes_accessfailurelog ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.axes_accessfailurelog_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE public.axes_accesslog ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.axes_accesslog_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE public.death ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.death_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE public.django_admin_log ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.django_admin_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE public.django_content_type ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.django_content_type_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE public.django_migrations ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.django_migrations_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE public.job_news ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.job_news_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE public.late_result ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.late_result_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE public.near_miss ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.near_miss_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE public.saved_search ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.saved_search_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE public.settled ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.settled_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE public.shift ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.shift_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE public.status_delta ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.status_delta_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

BEGIN
    SELECT * INTO head FROM audit_head WHERE id = 1 FOR UPDATE;
    IF length(NEW.digest) > 0 AND (head IS NULL OR head.last = 0 OR NEW.id <= head.last) THEN
        RETURN NEW;
    END IF;
    IF head IS NULL THEN
        IF EXISTS (SELECT FROM audit_entry) THEN
            RAISE EXCEPTION 'the head of the audit is missing: its last entries may be, too';
        END IF;
        INSERT INTO audit_head (id, last, digest) VALUES (1, 0, '') RETURNING * INTO head;
    END IF;
    NEW.id := head.last + 1;
    NEW.digest := audit_digest(head.digest, NEW);
    UPDATE audit_head SET last = NEW.id, digest = NEW.digest WHERE id = 1;
    RETURN NEW;

BEGIN
    SELECT * INTO head FROM audit_head WHERE id = NEW.id FOR UPDATE;
    IF head IS NULL THEN
        RETURN NEW;
    END IF;
    IF head.last > 0 THEN
        RAISE EXCEPTION 'this database has an audit of its own: restore into one that is new';
    END IF;
    UPDATE audit_head SET last = NEW.last, digest = NEW.digest WHERE id = NEW.id;
    RETURN NULL;

CREATE FUNCTION public.audit_append() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO '$user', 'public'
    AS $$
DECLARE
    head audit_head;

CREATE FUNCTION public.audit_digest(before bytea, e public.audit_entry) RETURNS bytea
    LANGUAGE sql STABLE
    AS $$
    SELECT sha256(before || convert_to(jsonb_build_array(
        e.id, extract(epoch FROM e.at)::text, e.actor, e.address, e.via, e.action, e.subject,
        e.wanted, e.count, e.reason, e.before, e.after, e.detail)::text, 'UTF8'))
$$;

CREATE FUNCTION public.audit_refuse() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION '% on %: the audit is appended to and never changed', TG_OP, TG_TABLE_NAME;

CREATE FUNCTION public.audit_restore_head() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO '$user', 'public'
    AS $$
DECLARE
    head audit_head;

CREATE INDEX alert_channel_name_9a71b3f5_like ON public.alert_channel USING btree (name varchar_pattern_ops);

CREATE INDEX alert_delivery_due ON public.alert_delivery USING btree (next_try_at) WHERE ((state)::text = 'waiting'::text);

CREATE INDEX alert_delivery_newest ON public.alert_delivery USING btree (channel_id, created_at DESC);

CREATE INDEX alert_rule_name_fa2381bb_like ON public.alert_rule USING btree (name varchar_pattern_ops);

CREATE INDEX alert_state_key_5495f7ff_like ON public.alert_state USING btree (key varchar_pattern_ops);

CREATE INDEX api_token_prefix_3ff8df5d_like ON public.api_token USING btree (prefix varchar_pattern_ops);

CREATE INDEX api_token_user_id_b646d2e7 ON public.api_token USING btree (user_id);

CREATE INDEX attempt_failed ON public.attempt USING btree (kind, ended_at) WHERE ((outcome)::text = ANY ((ARRAY['crashed'::character varying, 'error'::character varying, 'timeout'::character varying])::text[]));

CREATE INDEX attempt_task_id_e51ebc25 ON public.attempt USING btree (task_id);

CREATE INDEX audit_newest ON public.audit_entry USING btree (id DESC);

CREATE INDEX audit_subject ON public.audit_entry USING btree (subject, id DESC);

CREATE INDEX auth_group_name_a6ea08ec_like ON public.auth_group USING btree (name varchar_pattern_ops);

CREATE INDEX auth_group_permissions_group_id_b120cbf9 ON public.auth_group_permissions USING btree (group_id);

CREATE INDEX auth_group_permissions_permission_id_84c5c92e ON public.auth_group_permissions USING btree (permission_id);

CREATE INDEX auth_permission_content_type_id_2f476e4b ON public.auth_permission USING btree (content_type_id);

CREATE INDEX auth_user_groups_group_id_97559544 ON public.auth_user_groups USING btree (group_id);

CREATE INDEX auth_user_groups_user_id_6a12ed8b ON public.auth_user_groups USING btree (user_id);

CREATE INDEX auth_user_user_permissions_permission_id_1fbb5f2c ON public.auth_user_user_permissions USING btree (permission_id);

CREATE INDEX auth_user_user_permissions_user_id_a95ead1b ON public.auth_user_user_permissions USING btree (user_id);

CREATE INDEX auth_user_username_6821ab7c_like ON public.auth_user USING btree (username varchar_pattern_ops);

CREATE INDEX axes_accessattempt_ip_address_10922d9c ON public.axes_accessattempt USING btree (ip_address);

CREATE INDEX axes_accessattempt_user_agent_ad89678b ON public.axes_accessattempt USING btree (user_agent);

CREATE INDEX axes_accessattempt_user_agent_ad89678b_like ON public.axes_accessattempt USING btree (user_agent varchar_pattern_ops);

CREATE INDEX axes_accessattempt_username_3f2d4ca0 ON public.axes_accessattempt USING btree (username);

CREATE INDEX axes_accessattempt_username_3f2d4ca0_like ON public.axes_accessattempt USING btree (username varchar_pattern_ops);

CREATE INDEX axes_accessfailurelog_ip_address_2e9f5a7f ON public.axes_accessfailurelog USING btree (ip_address);

CREATE INDEX axes_accessfailurelog_user_agent_ea145dda ON public.axes_accessfailurelog USING btree (user_agent);

CREATE INDEX axes_accessfailurelog_user_agent_ea145dda_like ON public.axes_accessfailurelog USING btree (user_agent varchar_pattern_ops);

CREATE INDEX axes_accessfailurelog_username_a8b7e8a4 ON public.axes_accessfailurelog USING btree (username);

CREATE INDEX axes_accessfailurelog_username_a8b7e8a4_like ON public.axes_accessfailurelog USING btree (username varchar_pattern_ops);

CREATE INDEX axes_accesslog_ip_address_86b417e5 ON public.axes_accesslog USING btree (ip_address);

CREATE INDEX axes_accesslog_user_agent_0e659004 ON public.axes_accesslog USING btree (user_agent);

CREATE INDEX axes_accesslog_user_agent_0e659004_like ON public.axes_accesslog USING btree (user_agent varchar_pattern_ops);

CREATE INDEX axes_accesslog_username_df93064b ON public.axes_accesslog USING btree (username);

CREATE INDEX axes_accesslog_username_df93064b_like ON public.axes_accesslog USING btree (username varchar_pattern_ops);

CREATE INDEX bulk_due ON public.bulk USING btree (look_at) WHERE ((state)::text = ANY ((ARRAY['held'::character varying, 'running'::character varying])::text[]));

CREATE INDEX bulk_item_refused ON public.bulk_item USING btree (bulk_id, place) WHERE ((state)::text = 'refused'::text);

CREATE INDEX bulk_item_task ON public.bulk_item USING btree (task_id);

CREATE INDEX bulk_key_9089b063_like ON public.bulk USING btree (key varchar_pattern_ops);

CREATE INDEX capability_kind_3d72a03c ON public.capability USING btree (kind);

CREATE INDEX capability_kind_3d72a03c_like ON public.capability USING btree (kind varchar_pattern_ops);

CREATE INDEX dead_group_fingerprint_8090175a_like ON public.dead_group USING btree (fingerprint varchar_pattern_ops);

CREATE INDEX death_alike ON public.death USING btree (fingerprint, at);

CREATE INDEX dependency_of ON public.dependency USING btree (depends_on_id, uuid_send(task_id));

CREATE INDEX django_admin_log_content_type_id_c4bce8eb ON public.django_admin_log USING btree (content_type_id);

CREATE INDEX django_admin_log_user_id_c564eba6 ON public.django_admin_log USING btree (user_id);

CREATE INDEX django_session_expire_date_a5c62663 ON public.django_session USING btree (expire_date);

CREATE INDEX django_session_session_key_c0390e0f_like ON public.django_session USING btree (session_key varchar_pattern_ops);

CREATE INDEX item_of_join ON public.step_task USING btree (join_id, item) WHERE ((role)::text = 'item'::text);

CREATE INDEX job_ended ON public.job USING btree (finished_at, id) WHERE (finished_at IS NOT NULL);

CREATE INDEX job_key_88ff2d70_like ON public.job USING btree (key varchar_pattern_ops);

CREATE INDEX job_open ON public.job USING btree (status, id) WHERE (NOT ((status)::text = ANY ((ARRAY['CANCELLED'::character varying, 'COMPENSATED'::character varying, 'COMPLETED'::character varying])::text[])));

CREATE INDEX job_pausing ON public.job USING btree (id) WHERE ((held_to IS NOT NULL) AND paused);

CREATE INDEX job_turn_latest ON public.job_turn USING btree (kind_id, at DESC);

CREATE INDEX kind_limit_name_9a65fc29 ON public.kind USING btree (limit_name);

CREATE INDEX kind_limit_name_9a65fc29_like ON public.kind USING btree (limit_name varchar_pattern_ops);

CREATE INDEX kind_name_7f0a5fde_like ON public.kind USING btree (name varchar_pattern_ops);

CREATE INDEX late_result_task_id_425cd082 ON public.late_result USING btree (task_id);

CREATE INDEX lease_claimable ON public.lease USING btree (worker_id, token) WHERE (started_at IS NULL);

CREATE INDEX lease_of_person ON public.lease USING btree (held_until) WHERE (held_until IS NOT NULL);

CREATE INDEX limit_state_limit_id_b35b47ea_like ON public.limit_state USING btree (limit_id varchar_pattern_ops);

CREATE INDEX near_miss_worker_id_c096bb52 ON public.near_miss USING btree (worker_id);

CREATE INDEX replica_holder_2bf314c1_like ON public.replica USING btree (holder varchar_pattern_ops);

CREATE INDEX request_rate_subject_3c08c730_like ON public.request_rate USING btree (subject varchar_pattern_ops);

CREATE INDEX retry_credit_kind_id_5b4b9bb3_like ON public.retry_credit USING btree (kind_id varchar_pattern_ops);

CREATE INDEX round_robin_cursor_kind_id_7b2e6ec2_like ON public.round_robin_cursor USING btree (kind_id varchar_pattern_ops);

CREATE INDEX saved_search_owner_id_bcf46548 ON public.saved_search USING btree (owner_id);

CREATE INDEX search_pin_search_id_c99dcaa2 ON public.search_pin USING btree (search_id);

CREATE INDEX shared_limit_name_1d346b5b_like ON public.shared_limit USING btree (name varchar_pattern_ops);

CREATE INDEX shift_began_at_780bd432 ON public.shift USING btree (began_at);

CREATE INDEX shift_open ON public.shift USING btree (epoch) WHERE (ended_at IS NULL);

CREATE INDEX step_of_job ON public.step_task USING btree (job_id, place) WHERE ((role)::text = ANY ((ARRAY['step'::character varying, 'join'::character varying])::text[]));

CREATE INDEX task_alike ON public.task USING btree (fingerprint, id) WHERE (fingerprint IS NOT NULL);

CREATE INDEX task_closed ON public.task USING btree (finished_at, id) WHERE ((job_id IS NULL) AND ((status)::text = ANY ((ARRAY['CANCELLED'::character varying, 'DISMISSED'::character varying, 'SKIPPED'::character varying])::text[])));

CREATE INDEX task_completed ON public.task USING btree (finished_at, id) WHERE ((job_id IS NULL) AND ((status)::text = 'COMPLETED'::text));

CREATE INDEX task_dead ON public.task USING btree (finished_at, id) WHERE ((status)::text = 'DEAD'::text);

CREATE INDEX task_dead_alike ON public.task USING btree (fingerprint, finished_at, id) WHERE ((status)::text = 'DEAD'::text);

CREATE INDEX task_deadline ON public.task USING btree (deadline_at) WHERE ((deadline_at IS NOT NULL) AND ((status)::text = ANY ((ARRAY['ASSIGNED'::character varying, 'FAILED'::character varying, 'PENDING'::character varying, 'RUNNING'::character varying])::text[])));

CREATE INDEX task_log_task_id_5afda5be ON public.task_log USING btree (task_id);

CREATE INDEX task_of_job ON public.task USING btree (job_id, id) WHERE (job_id IS NOT NULL);

CREATE INDEX task_of_job_done ON public.task USING btree (job_id, finished_at, id) WHERE ((job_id IS NOT NULL) AND ((status)::text = 'COMPLETED'::text));

CREATE INDEX task_of_job_open ON public.task USING btree (job_id, cancel_asked, id) WHERE ((job_id IS NOT NULL) AND ((status)::text = ANY ((ARRAY['ASSIGNED'::character varying, 'DEAD'::character varying, 'FAILED'::character varying, 'PENDING'::character varying, 'RUNNING'::character varying])::text[])));

CREATE INDEX task_oldest ON public.task USING btree (COALESCE(ready_at, created_at)) WHERE (((status)::text = ANY ((ARRAY['ASSIGNED'::character varying, 'FAILED'::character varying, 'PENDING'::character varying, 'RUNNING'::character varying])::text[])) AND (waiting_on = 0));

CREATE INDEX task_poisoned ON public.task USING btree (kind, finished_at) WHERE ((dead_reason)::text = 'poison'::text);

CREATE INDEX task_ready ON public.task USING btree (kind, queue_at, id, run_at) WHERE (((status)::text = 'PENDING'::text) AND (waiting_on = 0));

CREATE INDEX task_ready_of_job ON public.task USING btree (kind, job_id, queue_at, id, run_at) WHERE ((job_id IS NOT NULL) AND ((status)::text = 'PENDING'::text) AND (waiting_on = 0));

CREATE INDEX task_retry_due ON public.task USING btree (kind, run_at) WHERE ((status)::text = 'FAILED'::text);

CREATE INDEX worker_newest ON public.worker USING btree (name, registered_at DESC);

CREATE SEQUENCE public.lease_token
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE public.alert_channel (
    CONSTRAINT alert_channel_kind_known CHECK (((kind)::text = ANY ((ARRAY['mail'::character varying, 'webhook'::character varying])::text[]))),
    address character varying(500) NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    kind character varying(10) NOT NULL,
    name character varying(100) NOT NULL,
    secret character varying(200) DEFAULT ''::character varying NOT NULL
);

CREATE TABLE public.alert_delivery (
    CONSTRAINT alert_delivery_state_known CHECK (((state)::text = ANY ((ARRAY['given_up'::character varying, 'sent'::character varying, 'waiting'::character varying])::text[]))),
    began_at timestamp with time zone NOT NULL,
    body jsonb NOT NULL,
    channel_id character varying(100) NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    event character varying(10) NOT NULL,
    fault character varying(300) DEFAULT ''::character varying NOT NULL,
    id uuid NOT NULL,
    key character varying(200) NOT NULL,
    next_try_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    sent_at timestamp with time zone,
    state character varying(10) DEFAULT 'waiting'::character varying NOT NULL,
    tries smallint DEFAULT 0 NOT NULL
);

CREATE TABLE public.alert_rule (
    CONSTRAINT alert_rule_name_known CHECK (((name)::text = ANY ((ARRAY['dead_waiting'::character varying, 'error_back'::character varying, 'held_kind'::character varying, 'new_error'::character varying, 'off_duty'::character varying, 'overdue'::character varying, 'pinned'::character varying, 'silent'::character varying, 'snapshot_held'::character varying, 'unserved'::character varying])::text[]))),
    name character varying(20) NOT NULL,
    repeat_minutes double precision DEFAULT 60.0 NOT NULL,
    sent boolean DEFAULT true NOT NULL
);

CREATE TABLE public.alert_settings (
    CONSTRAINT alert_settings_dead_at_least_check CHECK ((dead_at_least >= 0)),
    CONSTRAINT alert_settings_one_row CHECK ((id = 1)),
    dead_at_least integer DEFAULT 1 NOT NULL,
    id smallint NOT NULL,
    oldest_seconds double precision,
    pinned_seconds double precision DEFAULT 0.0 NOT NULL,
    snapshot_seconds double precision DEFAULT 60.0 NOT NULL
);

CREATE TABLE public.alert_state (
    began_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    key character varying(200) NOT NULL,
    missing_since timestamp with time zone,
    name character varying(20) NOT NULL,
    sent_at timestamp with time zone,
    title character varying(300) DEFAULT ''::character varying NOT NULL,
    told boolean DEFAULT false NOT NULL
);

CREATE TABLE public.api_token (
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    digest character varying(64) NOT NULL,
    expires_at timestamp with time zone,
    id bigint NOT NULL,
    last_used_at timestamp with time zone,
    name character varying(100) NOT NULL,
    prefix character varying(16) NOT NULL,
    revoked_at timestamp with time zone,
    scopes character varying(30)[] DEFAULT '{}'::character varying(30)[] NOT NULL,
    user_id integer
);

CREATE TABLE public.attempt (
    CONSTRAINT attempt_outcome_known CHECK (((outcome)::text = ANY ((ARRAY['cancelled'::character varying, 'completed'::character varying, 'crashed'::character varying, 'deadline'::character varying, 'error'::character varying, 'expired'::character varying, 'not_named'::character varying, 'released'::character varying, 'replaced'::character varying, 'stopped'::character varying, 'timeout'::character varying, 'worker_lost'::character varying])::text[]))),
    assigned_at timestamp with time zone NOT NULL,
    dead_reason character varying(20),
    ended_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    error jsonb,
    kind character varying(100) NOT NULL,
    next_run_at timestamp with time zone,
    number integer NOT NULL,
    outcome character varying(20) NOT NULL,
    requeues integer DEFAULT 0 NOT NULL,
    started_at timestamp with time zone,
    task_id uuid NOT NULL,
    token bigint NOT NULL,
    worker_id uuid NOT NULL
);

CREATE TABLE public.audit_entry (
    action character varying(50) NOT NULL,
    actor character varying(150) NOT NULL,
    address character varying(64) DEFAULT ''::character varying NOT NULL,
    after jsonb,
    at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    before jsonb,
    count integer DEFAULT 1 NOT NULL,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL,
    digest bytea DEFAULT '\x'::bytea NOT NULL,
    id bigint NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    subject character varying(200) NOT NULL,
    via character varying(200) DEFAULT ''::character varying NOT NULL,
    wanted character varying(1000) DEFAULT ''::character varying NOT NULL
);

CREATE TABLE public.audit_head (
    CONSTRAINT audit_head_one_row CHECK ((id = 1)),
    digest bytea DEFAULT '\x'::bytea NOT NULL,
    id smallint NOT NULL,
    last bigint DEFAULT 0 NOT NULL
);

CREATE TABLE public.auth_group (
    id integer NOT NULL,
    name character varying(150) NOT NULL
);

CREATE TABLE public.auth_group_permissions (
    group_id integer NOT NULL,
    id bigint NOT NULL,
    permission_id integer NOT NULL
);

CREATE TABLE public.auth_permission (
    codename character varying(100) NOT NULL,
    content_type_id integer NOT NULL,
    id integer NOT NULL,
    name character varying(255) NOT NULL
);

CREATE TABLE public.auth_user (
    date_joined timestamp with time zone NOT NULL,
    email character varying(254) NOT NULL,
    first_name character varying(150) NOT NULL,
    id integer NOT NULL,
    is_active boolean NOT NULL,
    is_staff boolean NOT NULL,
    is_superuser boolean NOT NULL,
    last_login timestamp with time zone,
    last_name character varying(150) NOT NULL,
    password character varying(128) NOT NULL,
    username character varying(150) NOT NULL
);

CREATE TABLE public.auth_user_groups (
    group_id integer NOT NULL,
    id bigint NOT NULL,
    user_id integer NOT NULL
);

CREATE TABLE public.auth_user_user_permissions (
    id bigint NOT NULL,
    permission_id integer NOT NULL,
    user_id integer NOT NULL
);

CREATE TABLE public.axes_accessattempt (
    CONSTRAINT axes_accessattempt_failures_since_start_check CHECK ((failures_since_start >= 0)),
    attempt_time timestamp with time zone NOT NULL,
    failures_since_start integer NOT NULL,
    get_data text NOT NULL,
    http_accept character varying(1025) NOT NULL,
    id integer NOT NULL,
    ip_address inet,
    path_info character varying(255) NOT NULL,
    post_data text NOT NULL,
    user_agent character varying(255) NOT NULL,
    username character varying(255)
);

CREATE TABLE public.axes_accessattemptexpiration (
    access_attempt_id integer NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

CREATE TABLE public.axes_accessfailurelog (
    attempt_time timestamp with time zone NOT NULL,
    http_accept character varying(1025) NOT NULL,
    id integer NOT NULL,
    ip_address inet,
    locked_out boolean NOT NULL,
    path_info character varying(255) NOT NULL,
    user_agent character varying(255) NOT NULL,
    username character varying(255)
);

CREATE TABLE public.axes_accesslog (
    attempt_time timestamp with time zone NOT NULL,
    http_accept character varying(1025) NOT NULL,
    id integer NOT NULL,
    ip_address inet,
    logout_time timestamp with time zone,
    path_info character varying(255) NOT NULL,
    session_hash character varying(64) NOT NULL,
    user_agent character varying(255) NOT NULL,
    username character varying(255)
);

CREATE TABLE public.breaker_state (
    CONSTRAINT breaker_scope_known CHECK (((scope)::text = ANY ((ARRAY['kind'::character varying, 'limit'::character varying])::text[]))),
    CONSTRAINT breaker_state_known CHECK (((state)::text = ANY ((ARRAY['closed'::character varying, 'half_open'::character varying, 'open'::character varying])::text[]))),
    name character varying(100) NOT NULL,
    probe uuid,
    probe_token bigint,
    scope character varying(10) NOT NULL,
    since timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    state character varying(10) NOT NULL
);

CREATE TABLE public.bulk (
    CONSTRAINT bulk_action_known CHECK (((action)::text = ANY ((ARRAY['cancel'::character varying, 'deadline'::character varying, 'dismiss'::character varying, 'priority'::character varying, 'requeue'::character varying])::text[]))),
    CONSTRAINT bulk_open_or_finished CHECK ((((finished_at IS NULL) AND ((state)::text = ANY ((ARRAY['held'::character varying, 'running'::character varying])::text[]))) OR ((NOT ((state)::text = ANY ((ARRAY['held'::character varying, 'running'::character varying])::text[]))) AND (finished_at IS NOT NULL)))),
    CONSTRAINT bulk_state_known CHECK (((state)::text = ANY ((ARRAY['aborted'::character varying, 'came_back'::character varying, 'done'::character varying, 'held'::character varying, 'running'::character varying, 'stopped'::character varying, 'undone'::character varying])::text[]))),
    CONSTRAINT bulk_within_itself CHECK (((place >= 0) AND (place <= total) AND (moved >= 0) AND (moved <= place))),
    action character varying(10) NOT NULL,
    actor character varying(150) NOT NULL,
    begins_at timestamp with time zone NOT NULL,
    canary boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    ended text DEFAULT ''::text NOT NULL,
    finished_at timestamp with time zone,
    id uuid NOT NULL,
    key character varying(64) NOT NULL,
    look_at timestamp with time zone NOT NULL,
    moved integer DEFAULT 0 NOT NULL,
    params jsonb DEFAULT '{}'::jsonb NOT NULL,
    place integer DEFAULT 0 NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    sent_at timestamp with time zone,
    state character varying(10) DEFAULT 'held'::character varying NOT NULL,
    total integer DEFAULT 0 NOT NULL,
    wanted character varying(1000) DEFAULT ''::character varying NOT NULL,
    watched integer DEFAULT 0 NOT NULL
);

CREATE TABLE public.bulk_item (
    CONSTRAINT bulk_item_state_known CHECK (((state)::text = ANY ((ARRAY['moved'::character varying, 'refused'::character varying, 'waiting'::character varying])::text[]))),
    bulk_id uuid NOT NULL,
    fingerprint character varying(16),
    place integer NOT NULL,
    requeues integer NOT NULL,
    state character varying(10) DEFAULT 'waiting'::character varying NOT NULL,
    task_id uuid NOT NULL,
    why character varying(200) DEFAULT ''::character varying NOT NULL
);

CREATE TABLE public.capability (
    CONSTRAINT capability_skill_min CHECK ((skill > (0.0)::double precision)),
    kind character varying(100) NOT NULL,
    skill double precision DEFAULT 1.0 NOT NULL,
    worker_id uuid NOT NULL
);

CREATE TABLE public.dead_group (
    assigned_to character varying(150) DEFAULT ''::character varying NOT NULL,
    dismissed_at timestamp with time zone,
    fingerprint character varying(16) NOT NULL,
    note text DEFAULT ''::text NOT NULL
);

CREATE TABLE public.death (
    at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    fingerprint character varying(16) NOT NULL,
    id bigint NOT NULL,
    kind character varying(100) NOT NULL,
    task_id uuid NOT NULL,
    worker_id uuid
);

CREATE TABLE public.dependency (
    CONSTRAINT dependency_not_itself CHECK ((NOT (task_id = depends_on_id))),
    CONSTRAINT dependency_on_dead_known CHECK (((on_dead)::text = ANY ((ARRAY['continue'::character varying, 'fail'::character varying, 'wait'::character varying])::text[]))),
    CONSTRAINT dependency_state_known CHECK (((state)::text = ANY ((ARRAY['blocked'::character varying, 'met'::character varying, 'void'::character varying, 'waiting'::character varying])::text[]))),
    depends_on_id uuid NOT NULL,
    name character varying(100) NOT NULL,
    on_dead character varying(10) DEFAULT 'wait'::character varying NOT NULL,
    state character varying(10) NOT NULL,
    task_id uuid NOT NULL
);

CREATE TABLE public.django_admin_log (
    CONSTRAINT django_admin_log_action_flag_check CHECK ((action_flag >= 0)),
    action_flag smallint NOT NULL,
    action_time timestamp with time zone NOT NULL,
    change_message text NOT NULL,
    content_type_id integer,
    id integer NOT NULL,
    object_id text,
    object_repr character varying(200) NOT NULL,
    user_id integer NOT NULL
);

CREATE TABLE public.django_content_type (
    app_label character varying(100) NOT NULL,
    id integer NOT NULL,
    model character varying(100) NOT NULL
);

CREATE TABLE public.django_migrations (
    app character varying(255) NOT NULL,
    applied timestamp with time zone NOT NULL,
    id bigint NOT NULL,
    name character varying(255) NOT NULL
);

CREATE TABLE public.django_session (
    expire_date timestamp with time zone NOT NULL,
    session_data text NOT NULL,
    session_key character varying(40) NOT NULL
);

CREATE TABLE public.effect (
    CONSTRAINT effect_done_has_its_time CHECK ((((finished_at IS NOT NULL) AND ((state)::text = 'done'::text)) OR ((finished_at IS NULL) AND ((state)::text = 'started'::text)))),
    CONSTRAINT effect_state_known CHECK (((state)::text = ANY ((ARRAY['done'::character varying, 'started'::character varying])::text[]))),
    finished_at timestamp with time zone,
    name character varying(100) NOT NULL,
    repeats integer DEFAULT 0 NOT NULL,
    result jsonb,
    started_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    state character varying(10) DEFAULT 'started'::character varying NOT NULL,
    task_id uuid NOT NULL,
    token bigint NOT NULL
);

CREATE TABLE public.heartbeat (
    at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    held bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    previous_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    progress jsonb DEFAULT '{}'::jsonb NOT NULL,
    worker_id uuid NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_cost_delay='0');

CREATE TABLE public.job (
    CONSTRAINT job_ended_has_its_time CHECK ((((finished_at IS NOT NULL) AND ((status)::text = ANY ((ARRAY['CANCELLED'::character varying, 'COMPENSATED'::character varying, 'COMPLETED'::character varying])::text[]))) OR ((NOT ((status)::text = ANY ((ARRAY['CANCELLED'::character varying, 'COMPENSATED'::character varying, 'COMPLETED'::character varying])::text[]))) AND (finished_at IS NULL)))),
    CONSTRAINT job_status_known CHECK (((status)::text = ANY ((ARRAY['CANCELLED'::character varying, 'COMPENSATED'::character varying, 'COMPENSATING'::character varying, 'COMPLETED'::character varying, 'DEAD'::character varying, 'RUNNING'::character varying])::text[]))),
    cancel_asked boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    finished_at timestamp with time zone,
    held_to uuid,
    id uuid NOT NULL,
    key character varying(200),
    name character varying(200) DEFAULT ''::character varying NOT NULL,
    paused boolean DEFAULT false NOT NULL,
    plan jsonb NOT NULL,
    result jsonb,
    status character varying(12) DEFAULT 'RUNNING'::character varying NOT NULL,
    submitted_by character varying(150) DEFAULT ''::character varying NOT NULL,
    undone_id uuid,
    undone_to timestamp with time zone
);

CREATE TABLE public.job_news (
    id bigint NOT NULL,
    job_id uuid NOT NULL
);

CREATE TABLE public.job_turn (
    at timestamp with time zone NOT NULL,
    job_id uuid NOT NULL,
    kind_id character varying(100) NOT NULL,
    priority smallint NOT NULL
);

CREATE TABLE public.kind (
    "order" character varying(20) DEFAULT 'fifo'::character varying NOT NULL,
    CONSTRAINT kind_attempts_min CHECK ((max_attempts >= 1)),
    CONSTRAINT kind_breaker_failures_check CHECK ((breaker_failures >= 0)),
    CONSTRAINT kind_breaker_sound CHECK ((((breaker_failures IS NULL) OR (breaker_failures >= 1)) AND (breaker_open_seconds > (0.0)::double precision) AND (breaker_window_seconds > (0.0)::double precision))),
    CONSTRAINT kind_load_known CHECK (((load)::text = ANY ((ARRAY['count'::character varying, 'seconds'::character varying])::text[]))),
    CONSTRAINT kind_max_attempts_check CHECK ((max_attempts >= 0)),
    CONSTRAINT kind_name_filled CHECK ((NOT ((name)::text = ''::text))),
    CONSTRAINT kind_order_known CHECK ((("order")::text = ANY ((ARRAY['fifo'::character varying, 'longest_first'::character varying])::text[]))),
    CONSTRAINT kind_people_need_no_limit CHECK (((NOT by_people) OR (limit_name IS NULL))),
    CONSTRAINT kind_person_lease_positive CHECK (((person_lease_seconds IS NULL) OR (person_lease_seconds > (0.0)::double precision))),
    CONSTRAINT kind_poison_after_check CHECK ((poison_after >= 0)),
    CONSTRAINT kind_seconds_positive CHECK (((estimate_seconds > (0.0)::double precision) AND (timeout_seconds > (0.0)::double precision) AND (backoff_base_seconds > (0.0)::double precision) AND (backoff_cap_seconds > (0.0)::double precision))),
    CONSTRAINT kind_strategy_known CHECK ((((strategy)::text = ANY ((ARRAY['capability'::character varying, 'capable_least_loaded'::character varying, 'least_loaded'::character varying, 'round_robin'::character varying, 'two_choices'::character varying])::text[])) OR ((strategy)::text = ''::text))),
    backoff_base_seconds double precision DEFAULT 2.0 NOT NULL,
    backoff_cap_seconds double precision DEFAULT 60.0 NOT NULL,
    backoff_jitter double precision DEFAULT 0.25 NOT NULL,
    breaker_counts_permanent boolean DEFAULT false NOT NULL,
    breaker_failures integer,
    breaker_open_seconds double precision DEFAULT 30.0 NOT NULL,
    breaker_window_seconds double precision DEFAULT 60.0 NOT NULL,
    by_people boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    description character varying(300) DEFAULT ''::character varying NOT NULL,
    estimate_seconds double precision DEFAULT 1.0 NOT NULL,
    limit_name character varying(100),
    load character varying(10) DEFAULT 'seconds'::character varying NOT NULL,
    max_attempts smallint DEFAULT 3 NOT NULL,
    name character varying(100) NOT NULL,
    paused boolean DEFAULT false NOT NULL,
    payload_schema jsonb,
    permanent_errors jsonb DEFAULT '[]'::jsonb NOT NULL,
    person_lease_seconds double precision,
    poison_after smallint DEFAULT 3 NOT NULL,
    quarantine_freed_at timestamp with time zone,
    quarantined_at timestamp with time zone,
    redacted_keys jsonb DEFAULT '[]'::jsonb NOT NULL,
    result_schema jsonb,
    retry_budget double precision,
    retryable_errors jsonb DEFAULT '[]'::jsonb NOT NULL,
    searchable_paths jsonb DEFAULT '[]'::jsonb NOT NULL,
    strategy character varying(30) DEFAULT ''::character varying NOT NULL,
    timeout_seconds double precision DEFAULT 900.0 NOT NULL
);

CREATE TABLE public.late_result (
    id bigint NOT NULL,
    outcome character varying(20) NOT NULL,
    overlap_seconds double precision,
    received_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    result jsonb,
    task_id uuid NOT NULL,
    token_held bigint NOT NULL,
    token_now bigint,
    worker_id uuid NOT NULL
);

CREATE TABLE public.leader (
    CONSTRAINT leader_one_row CHECK ((id = 1)),
    epoch bigint DEFAULT 0 NOT NULL,
    expires_at timestamp with time zone,
    holder character varying(200) DEFAULT ''::character varying NOT NULL,
    id smallint NOT NULL,
    last_round_at timestamp with time zone,
    sampled_busy_seconds double precision,
    sampled_completed bigint,
    served_since timestamp with time zone,
    since timestamp with time zone
)
WITH (fillfactor='10');

CREATE TABLE public.lease (
    assigned_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    expected_seconds double precision NOT NULL,
    held_until timestamp with time zone,
    kind character varying(100) NOT NULL,
    lock_key character varying(200),
    started_at timestamp with time zone,
    task_id uuid NOT NULL,
    token bigint NOT NULL,
    weight double precision DEFAULT 1.0 NOT NULL,
    worker_id uuid NOT NULL
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_cost_delay='0');

CREATE TABLE public.limit_state (
    at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    limit_id character varying(100) NOT NULL,
    paused_until timestamp with time zone,
    start_at timestamp with time zone,
    start_tokens double precision,
    tokens double precision NOT NULL
);

CREATE TABLE public.near_miss (
    at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    id bigint NOT NULL,
    leases integer NOT NULL,
    silent_seconds double precision NOT NULL,
    stale_after_seconds double precision NOT NULL,
    worker_id uuid NOT NULL
);

CREATE TABLE public.pruned (
    CONSTRAINT pruned_what_known CHECK (((what)::text = ANY ((ARRAY['closed'::character varying, 'completed'::character varying, 'dead'::character varying, 'history'::character varying, 'job'::character varying])::text[]))),
    hour timestamp with time zone NOT NULL,
    rows bigint NOT NULL,
    seconds double precision NOT NULL,
    what character varying(10) NOT NULL
);

CREATE TABLE public.replica (
    holder character varying(200) NOT NULL,
    seen_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL
);

CREATE TABLE public.retention_settings (
    CONSTRAINT retention_settings_closed_days_check CHECK ((closed_days >= 0)),
    CONSTRAINT retention_settings_completed_days_check CHECK ((completed_days >= 0)),
    CONSTRAINT retention_settings_dead_days_check CHECK ((dead_days >= 0)),
    CONSTRAINT retention_settings_history_days_check CHECK ((history_days >= 0)),
    CONSTRAINT retention_settings_job_days_check CHECK ((job_days >= 0)),
    CONSTRAINT retention_settings_one_row CHECK ((id = 1)),
    closed_days integer,
    completed_days integer,
    dead_days integer,
    history_days integer,
    id smallint NOT NULL,
    job_days integer
);

CREATE TABLE public.retry_credit (
    at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    credit double precision NOT NULL,
    kind_id character varying(100) NOT NULL
);

CREATE TABLE public.round_robin_cursor (
    "position" bigint DEFAULT 0 NOT NULL,
    kind_id character varying(100) NOT NULL
);

CREATE TABLE public.sample (
    active jsonb DEFAULT '{}'::jsonb NOT NULL,
    at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    busy_seconds double precision DEFAULT 0.0 NOT NULL,
    by_status jsonb DEFAULT '{}'::jsonb NOT NULL,
    completed integer DEFAULT 0 NOT NULL,
    dispatch_seconds double precision DEFAULT 0.0 NOT NULL,
    dispatched integer DEFAULT 0 NOT NULL,
    gone bigint DEFAULT 0 NOT NULL,
    lengths integer[] DEFAULT '{}'::integer[] NOT NULL,
    longest_round_seconds double precision DEFAULT 0.0 NOT NULL,
    oldest_created_at timestamp with time zone,
    promoted integer DEFAULT 0 NOT NULL,
    reclaimed integer DEFAULT 0 NOT NULL,
    resolution smallint DEFAULT 1 NOT NULL,
    rounds integer DEFAULT 0 NOT NULL,
    unplaced jsonb DEFAULT '[]'::jsonb NOT NULL
);

CREATE TABLE public.saved_search (
    CONSTRAINT saved_search_name_filled CHECK ((NOT ((name)::text = ''::text))),
    address character varying(300) DEFAULT ''::character varying NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    id bigint NOT NULL,
    name character varying(60) NOT NULL,
    owner_id integer NOT NULL,
    query character varying(1000) DEFAULT ''::character varying NOT NULL,
    shared boolean DEFAULT false NOT NULL
);

CREATE TABLE public.search_pin (
    search_id bigint NOT NULL,
    user_id integer NOT NULL
);

CREATE TABLE public.settled (
    after_id uuid,
    id bigint NOT NULL,
    only_id uuid,
    own boolean DEFAULT false NOT NULL,
    task_id uuid NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_cost_delay='0');

CREATE TABLE public.shared_limit (
    CONSTRAINT limit_breaker_sound CHECK ((((breaker_failures IS NULL) OR (breaker_failures >= 1)) AND (breaker_open_seconds > (0.0)::double precision) AND (breaker_window_seconds > (0.0)::double precision))),
    CONSTRAINT shared_limit_breaker_failures_check CHECK ((breaker_failures >= 0)),
    breaker_counts_permanent boolean DEFAULT false NOT NULL,
    breaker_failures integer,
    breaker_open_seconds double precision DEFAULT 30.0 NOT NULL,
    breaker_window_seconds double precision DEFAULT 60.0 NOT NULL,
    burst double precision DEFAULT 1.0 NOT NULL,
    description character varying(300) DEFAULT ''::character varying NOT NULL,
    max_concurrent double precision,
    name character varying(100) NOT NULL,
    rate_per_second double precision
);

CREATE TABLE public.shift (
    CONSTRAINT shift_ending_known CHECK ((((ended_at IS NULL) AND (ending IS NULL)) OR ((ended_at IS NOT NULL) AND ((ending)::text = ANY ((ARRAY['lost'::character varying, 'over'::character varying, 'stopped'::character varying])::text[]))))),
    began_at timestamp with time zone NOT NULL,
    dispatched bigint,
    ended_at timestamp with time zone,
    ending character varying(10),
    epoch bigint NOT NULL,
    holder character varying(200) NOT NULL,
    id bigint NOT NULL,
    rounds integer,
    silent_seconds double precision
);

CREATE TABLE public.status_count (
    busy_seconds double precision DEFAULT 0.0 NOT NULL,
    count bigint NOT NULL,
    gone bigint DEFAULT 0 NOT NULL,
    kind character varying(100) NOT NULL,
    status character varying(10) NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.status_delta (
    busy_seconds double precision DEFAULT 0.0 NOT NULL,
    change integer NOT NULL,
    gone integer DEFAULT 0 NOT NULL,
    id bigint NOT NULL,
    kind character varying(100) NOT NULL,
    status character varying(10) NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_cost_delay='0');

CREATE TABLE public.step_task (
    CONSTRAINT step_task_counted_as_known CHECK (((counted_as IS NULL) OR ((counted_as)::text = ANY ((ARRAY['completed'::character varying, 'lost'::character varying, 'open'::character varying])::text[])))),
    CONSTRAINT step_task_role_known CHECK (((role)::text = ANY ((ARRAY['compensation'::character varying, 'item'::character varying, 'join'::character varying, 'step'::character varying])::text[]))),
    CONSTRAINT step_task_undoes_if_compensation CHECK (((((role)::text = 'compensation'::text) AND (undoes_id IS NOT NULL)) OR ((NOT ((role)::text = 'compensation'::text)) AND (undoes_id IS NULL)))),
    counted_as character varying(9),
    item integer,
    items integer DEFAULT 0 NOT NULL,
    items_completed integer DEFAULT 0 NOT NULL,
    items_open integer DEFAULT 0 NOT NULL,
    job_id uuid,
    join_id uuid,
    place smallint NOT NULL,
    role character varying(12) NOT NULL,
    task_id uuid NOT NULL,
    undoes_id uuid
);

CREATE TABLE public.supervisor_settings (
    "window" integer DEFAULT 2000 NOT NULL,
    CONSTRAINT settings_one_row CHECK ((id = 1)),
    CONSTRAINT settings_stale_after_heartbeats CHECK ((stale_after_seconds > heartbeat_seconds)),
    CONSTRAINT settings_strategy_known CHECK (((default_strategy)::text = ANY ((ARRAY['capability'::character varying, 'capable_least_loaded'::character varying, 'least_loaded'::character varying, 'round_robin'::character varying, 'two_choices'::character varying])::text[]))),
    CONSTRAINT supervisor_settings_quarantine_after_check CHECK ((quarantine_after >= 0)),
    CONSTRAINT supervisor_settings_window_check CHECK (("window" >= 0)),
    backlog double precision DEFAULT 1.0,
    default_strategy character varying(30) DEFAULT 'capable_least_loaded'::character varying NOT NULL,
    heartbeat_seconds double precision DEFAULT 10.0 NOT NULL,
    id smallint NOT NULL,
    leader_lease_seconds double precision DEFAULT 10.0 NOT NULL,
    person_lease_seconds double precision DEFAULT 1800.0 NOT NULL,
    priority_head_start_seconds double precision DEFAULT 60.0 NOT NULL,
    quarantine_after smallint DEFAULT 3 NOT NULL,
    quarantine_window_seconds double precision DEFAULT 3600.0 NOT NULL,
    shift_seconds double precision DEFAULT 30.0 NOT NULL,
    stale_after_seconds double precision DEFAULT 90.0 NOT NULL,
    tick_seconds double precision DEFAULT 1.0 NOT NULL,
    timeout_grace_seconds double precision DEFAULT 10.0 NOT NULL,
    unroutable_grace_seconds double precision DEFAULT 86400.0 NOT NULL
);

CREATE TABLE public.task (
    CONSTRAINT task_active_has_worker CHECK (((NOT ((status)::text = ANY ((ARRAY['ASSIGNED'::character varying, 'RUNNING'::character varying])::text[]))) OR ((assigned_to IS NOT NULL) AND (token IS NOT NULL)))),
    CONSTRAINT task_attempts_in_budget CHECK ((attempts <= max_attempts)),
    CONSTRAINT task_dead_has_reason CHECK ((((dead_reason IS NOT NULL) AND ((status)::text = 'DEAD'::text)) OR (NOT ((status)::text = 'DEAD'::text)))),
    CONSTRAINT task_estimate_min CHECK ((estimate_seconds > (0.0)::double precision)),
    CONSTRAINT task_holds_min CHECK ((holds >= 0)),
    CONSTRAINT task_status_known CHECK (((status)::text = ANY ((ARRAY['ASSIGNED'::character varying, 'CANCELLED'::character varying, 'COMPLETED'::character varying, 'DEAD'::character varying, 'DISMISSED'::character varying, 'FAILED'::character varying, 'PENDING'::character varying, 'RUNNING'::character varying, 'SKIPPED'::character varying])::text[]))),
    CONSTRAINT task_waiting_on_min CHECK ((waiting_on >= 0)),
    CONSTRAINT task_weight_min CHECK ((weight > (0.0)::double precision)),
    assigned_to uuid,
    attempts integer DEFAULT 0 NOT NULL,
    cancel_asked boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    dead_reason character varying(20),
    deadline_at timestamp with time zone,
    dependency_count integer DEFAULT 0 NOT NULL,
    error jsonb,
    estimate_seconds double precision NOT NULL,
    fingerprint character varying(16),
    finished_at timestamp with time zone,
    free_reclaims integer DEFAULT 0 NOT NULL,
    has_dependents boolean DEFAULT false NOT NULL,
    holds smallint DEFAULT 0 NOT NULL,
    id uuid NOT NULL,
    job_id uuid,
    key character varying(200),
    kind character varying(100) NOT NULL,
    lock_key character varying(200),
    max_attempts smallint NOT NULL,
    origins jsonb,
    payload jsonb NOT NULL,
    priority smallint DEFAULT 0 NOT NULL,
    queue_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    ready_at timestamp with time zone,
    requeues integer DEFAULT 0 NOT NULL,
    result jsonb,
    run_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    status character varying(10) DEFAULT 'PENDING'::character varying NOT NULL,
    submitted bigint,
    token bigint,
    total_attempts integer DEFAULT 0 NOT NULL,
    unprepared boolean DEFAULT false NOT NULL,
    waiting_on integer DEFAULT 0 NOT NULL,
    weight double precision DEFAULT 1.0 NOT NULL
)
WITH (fillfactor='85', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_cost_delay='0');

CREATE TABLE public.task_log (
    lines jsonb NOT NULL,
    task_id uuid NOT NULL,
    token bigint NOT NULL
);

CREATE TABLE public.worker (
    CONSTRAINT worker_ending_known CHECK (((ending)::text = ANY ((ARRAY['draining'::character varying, 'evicted'::character varying, 'left'::character varying, 'replaced'::character varying, 'silent'::character varying])::text[]))),
    CONSTRAINT worker_slots_min CHECK ((slots >= 1)),
    CONSTRAINT worker_state_known CHECK (((state)::text = ANY ((ARRAY['active'::character varying, 'draining'::character varying, 'lost'::character varying, 'person'::character varying, 'stopped'::character varying])::text[]))),
    CONSTRAINT worker_user_is_person CHECK (((user_id IS NULL) OR ((state)::text = 'person'::text))),
    drain_asked boolean DEFAULT false NOT NULL,
    ended_at timestamp with time zone,
    ending character varying(10),
    host character varying(200) DEFAULT ''::character varying NOT NULL,
    id uuid NOT NULL,
    name character varying(100) NOT NULL,
    pid integer DEFAULT 0 NOT NULL,
    registered_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    slots integer NOT NULL,
    state character varying(10) DEFAULT 'active'::character varying NOT NULL,
    user_id integer,
    version character varying(100) DEFAULT ''::character varying NOT NULL
);

CREATE TRIGGER audit_append BEFORE INSERT ON public.audit_entry FOR EACH ROW EXECUTE FUNCTION public.audit_append();

CREATE TRIGGER audit_keep BEFORE DELETE ON public.audit_head FOR EACH ROW EXECUTE FUNCTION public.audit_refuse();

CREATE TRIGGER audit_keep BEFORE DELETE OR UPDATE ON public.audit_entry FOR EACH ROW EXECUTE FUNCTION public.audit_refuse();

CREATE TRIGGER audit_keep_all BEFORE TRUNCATE ON public.audit_entry FOR EACH STATEMENT EXECUTE FUNCTION public.audit_refuse();

CREATE TRIGGER audit_keep_all BEFORE TRUNCATE ON public.audit_head FOR EACH STATEMENT EXECUTE FUNCTION public.audit_refuse();

CREATE TRIGGER audit_restore_head BEFORE INSERT ON public.audit_head FOR EACH ROW EXECUTE FUNCTION public.audit_restore_head();

CREATE UNIQUE INDEX lease_lock_once ON public.lease USING btree (lock_key) WHERE (lock_key IS NOT NULL);

CREATE UNIQUE INDEX task_key_once ON public.task USING btree (kind, key) WHERE (key IS NOT NULL);

CREATE UNIQUE INDEX worker_name_live_once ON public.worker USING btree (name) WHERE ((state)::text = ANY ((ARRAY['active'::character varying, 'draining'::character varying])::text[]));

CREATE UNLOGGED TABLE public.request_rate (
    at timestamp with time zone NOT NULL,
    remaining double precision NOT NULL,
    subject character varying(100) NOT NULL
)
WITH (fillfactor='70');

END $$;

END $$;

END $$;

