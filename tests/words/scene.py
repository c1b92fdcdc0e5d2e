"""A floor on which everything that a page can say is so; all that it names begins with ``zz``."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User

from tasks_app.core.actions.bulks import BulkAction, BulkOrder
from tasks_app.core.facts import ErrorFacts
from tasks_app.core.states import OnDead
from tasks_app.models import BreakerState, Kind, Lease, Limit, LimitState, SavedSearch, SearchPin
from tasks_app.sdk.link import Failure, Grant
from tasks_app.services.actions import bulks, dead_groups, operations
from tasks_app.services.attempts import worker_protocol
from tasks_app.services.dispatch.sampler import Sampler
from tasks_app.services.jobs.human_steps import claim_step
from tasks_app.services.jobs.jobs import pause_job, submit_job
from tasks_app.services.people import tokens
from tasks_app.services.people.people import Actor, Role
from tasks_app.store.dispatch import leader
from tests.people import PeopleFloor

FAR = datetime(2130, 1, 1, tzinfo=UTC)
TRACEBACK = """Traceback (most recent call last):
  File "/zzapp/zzshop/zztill.py", line 7, in zzpay
    raise ZzTillEmpty("zzempty")
zzshop.ZzTillEmpty: zzempty
"""
SCHEMA = {
    "type": "object",
    "title": "zz",
    "properties": {
        "approved": {"type": "boolean", "title": "zzapproved"},
        "zzwhy": {"type": "string", "title": "zzwhy", "minLength": 3, "description": "zz"},
        "zzhow": {"enum": ["zzone", "zztwo"], "title": "zzhow"},
        "zztree": {"type": "array", "title": "zztree"},
    },
    "required": ["approved", "zzwhy"],
}


@dataclass
class Scene(PeopleFloor):
    """The floor, and the tasks, jobs, bulks and so on that pages are asked for."""

    tasks: list[UUID] = field(default_factory=list)
    for_people: list[UUID] = field(default_factory=list)
    jobs: list[UUID] = field(default_factory=list)
    bulk_ids: list[UUID] = field(default_factory=list)
    search: int = 0
    boss: Actor = field(default_factory=lambda: Actor("zzboss", "127.0.0.1", role=Role.ADMIN))

    def lead(self) -> int:
        """Take the leader lease under a name that is no word."""
        epoch = leader.acquire("zzleader", 60)
        assert epoch is not None, "another leader holds the lease"
        self.epoch = epoch
        return epoch

    def fill(self, boss: User) -> None:
        """Let everything happen that a page can tell of."""
        self.lead()
        self.settings(backlog=1)
        self.worker("zzw1", 20, {"zzjob": 1.0, "zza": 1.0, "zzundo": 1.0})
        self._ends()
        self._runs()
        self._waits()
        self._jobs()
        self._people(boss)
        self._acts(boss)
        Sampler().sample(self.epoch, 60.0)

    def _one(self, name: str = "zzw1", **task: Any) -> tuple[UUID, Grant]:
        (task_id,) = self.submit(1, **{"kind": "zzjob", "priority": 9, **task})
        self.round()
        return task_id, next(each for each in self.claim(name) if each.task_id == task_id)

    def _dies(self, **task: Any) -> UUID:
        task_id, grant = self._one(**task)
        self._fails(grant)
        return task_id

    def _fails(self, grant: Grant) -> None:
        facts = ErrorFacts("zzshop.ZzTillEmpty", "zzempty", TRACEBACK, permanent=True)
        worker_protocol.fail(self.workers["zzw1"], [Failure(grant.task_id, grant.token, facts)])

    def _ends(self) -> None:
        """Completed, dead with dependents, dead again after a dismissal, failed, lost, late."""
        self.kind("zzjob", description="zz", payload_schema={"type": "object"})
        done, grant = self._one(key="zzdone", priority=3, weight=2.0)
        self.complete("zzw1", grant, {"zzresult": ["zz", 1, None, {"zz": "zz" * 300}]})
        back = self._dies(key="zzback")
        operations.dismiss([back], self.boss, "zzwrong")
        dead = self._dies(key="zzdead", lock_key="zzlock")
        self.submit(2, kind="zzjob", needs=[(dead, OnDead.WAIT), (done, OnDead.CONTINUE)])
        again = self._dies()
        operations.requeue([again], self.boss, "zzagain")
        self.round()
        (grant,) = self.claim("zzw1")
        self.complete("zzw1", grant, None)
        failed, grant = self._one(key="zzfailed")
        self.fail("zzw1", grant, type="zzshop.ZzSlow", message="zzslow")
        self.worker("zzlost", 1, {"zzlostkind": 1.0})
        self.kind("zzlostkind", poison_after=1)
        lost, grant = self._one("zzlost", kind="zzlostkind")
        self.silence("zzlost", 1000)
        self.round()
        self.complete("zzlost", grant, 1)
        self.tasks += [done, back, dead, again, failed, lost]
        self.bulk_ids.append(self._bulk(BulkAction.REQUEUE, [dead, back, done], canary=True))
        self.end_holds()
        for _ in range(3):
            self.round()
        for grant in self.claim("zzw1"):
            self._fails(grant)
        self.work_off()

    def _runs(self) -> None:
        """One runs with a sign of life, one is assigned, one is asked to let go."""
        running, grant = self._one(key="zzruns")
        self.beat("zzw1", grant)
        asked, _ = self._one(key="zzasked")
        self.bulk_ids.append(self._bulk(BulkAction.CANCEL, [asked, running]))
        self.end_holds()
        (assigned,) = self.submit(1, kind="zzjob", key="zzassigned", deadline_at=FAR)
        self.round()
        self.tasks += [running, asked, assigned]
        for idle in ("zzidle1", "zzidle2"):
            self.worker(idle, 2, {"zzjob": 1.0, "zzunserve": 1.0})
        operations.drain_worker(self.workers["zzidle2"], self.boss, "zz")

    def _waits(self) -> None:
        """Tasks that each wait for something else."""
        limit = Limit.objects.create(name="zzlimit", max_concurrent=1, breaker_failures=1)
        LimitState.objects.create(limit=limit, tokens=1, paused_until=FAR)
        BreakerState.objects.create(scope="limit", name="zzlimit", state="half_open")
        self.kind("zzlimited", limit=limit, strategy="round_robin")
        self.kind("zzpaused", paused=True)
        self.kind("zzill", quarantined_at="2030-01-01T00:00:00Z")
        self.kind("zzbroken", breaker_failures=1)
        BreakerState.objects.create(scope="kind", name="zzbroken", state="open")
        Kind.objects.filter(name="zzjob").update(searchable_paths=["payload.zz"])
        for kind in ("zzlimited", "zzpaused", "zzill", "zzbroken", "zzunserved", "zzjob"):
            self.tasks += self.submit(2, kind=kind, lock_key="zzlock2" if kind == "zzjob" else None)
        self.tasks += self.submit(1, kind="zzjob", run_at=FAR)

    def _jobs(self) -> None:
        """One that waits for a person and for a human's word, one paused, one that goes back."""
        many = {"name": "zzeach", "kind": "zza", "for_each": [1, 2], "depends_on": ["zzlook"]}
        look = {"name": "zzlook", "kind": "zza", "compensation": "zzundo"}
        when = {
            "and": [{"$result": "zzlook.zz", "less": 1}, {"$result": "zzlook.zz", "exists": True}]
        }
        steps = [look, many, {"name": "zzask", "kind": "zzreview", "depends_on": ["zzlook"]}]
        steps += [{"name": "zzmaybe", "kind": "zza", "when": when, "depends_on": ["zzlook"]}]
        self.people_do("zzreview", result_schema=SCHEMA)
        for kind in ("zza", "zzundo"):
            self.kind(kind)
        for name in ("zzdead", "zzpaused", "zzcompensated"):
            policy = "compensate" if name == "zzcompensated" else "ask"
            plan = {"name": name, "key": f"{name}-1", "on_dead": policy, "steps": steps}
            self.jobs.append(submit_job(plan).id)
        self.round()
        self.round()
        for grant in self.claim("zzw1"):
            if grant.kind == "zza":
                self.complete("zzw1", grant, {"zz": 0})
        self.round()
        self.round()
        for grant in self.claim("zzw1"):
            self.fail("zzw1", grant, type="zzshop.ZzTillEmpty", message="zzempty", permanent=True)
        for _ in range(3):
            self.round()
        pause_job(self.jobs[1], self.boss, "zz")

    def _people(self, boss: User) -> None:
        """A step that waits, one that somebody has, one that the boss has."""
        self.for_people += self.submit(3, kind="zzreview", deadline_at=FAR)
        self.take(self.for_people[1], "zzrita")
        claim_step(self.for_people[2], boss.pk, self.boss)

    def _acts(self, boss: User) -> None:
        """A bulk that is held, one group's note, a token, a search."""
        dead = self._dies(key="zzdead2")
        self.tasks.append(dead)
        self.bulk_ids.append(self._bulk(BulkAction.DISMISS, [dead, self.tasks[0]]))
        print_of = self.task(dead).fingerprint
        assert print_of is not None
        dead_groups.note_group(print_of, "zznote", self.boss)
        dead_groups.assign_group(print_of, "zzboss", self.boss)
        tokens.create("zztoken", self.boss)
        saved = SavedSearch.objects.create(owner=boss, name="zzsearch", shared=True)
        SearchPin.objects.create(user=boss, search=saved)
        self.search = saved.pk

    def _bulk(self, action: BulkAction, ids: list[UUID], *, canary: bool = False) -> UUID:
        order = BulkOrder(action, reason="zz", canary=canary, key=bulks.new_key())
        begun = bulks.begin(order, ids, self.boss)
        assert begun is not None
        return begun.id

    def token_of(self, step: UUID) -> int:
        """The token of whoever has a step, 0 where nobody has it."""
        held = Lease.objects.filter(task_id=step).first()
        return held.token if held else 0
