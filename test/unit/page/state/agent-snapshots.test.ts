/**
 * Which copies a page leaves with its relay: what it knows more of, and never what was taken back.
 */
import { expect, test } from 'vitest';
import { createStore } from 'zustand/vanilla';
import { rosterOf } from '../../../../src/shared/domain/agent.ts';
import { DEFAULT_SETTINGS } from '../../../../src/shared/domain/settings.ts';
import { agentSnapshotSchema } from '../../../../src/shared/protocol/snapshots.ts';
import type { WakeContext } from '../../../../src/shared/protocol/worker.ts';
import { createChanges } from '../../../../src/page/state/documents.ts';
import { createAgentSnapshots, type AgentSnapshotsDeps } from '../../../../src/page/state/agent-snapshots.ts';
import { snapshotOf, versionOf } from '../../../../src/page/state/agent-snapshot.ts';
import { shareOf } from '../../../../src/page/state/wake-context.ts';
import { agentDoc, leadDoc, NOW, said } from '../support/household.ts';

const AGENT = 'agent-1';
const settings = { ...DEFAULT_SETTINGS, humanName: 'Marcus' };
const docs = [leadDoc(), agentDoc(AGENT, 'Lyra', 0, 'I chose Lyra.'), agentDoc('agent-2', 'Wren', 1, 'I chose Wren.')];
const roster = rosterOf(
  docs.map((doc) => ({ ...doc, id: doc._id })),
  [],
);

interface Left {
  readonly agentId: string;
  readonly version: string;
  readonly snapshot?: unknown;
}

/** A page that knows Lyra's words up to a time, and a relay that answers with what lies there. */
function page() {
  const relay = {
    scheduled: [AGENT],
    enabled: true,
    snapshots: [] as Left[],
    withdrawn: [] as string[],
    everybody: false,
    left: [] as Left[],
  };
  let upTo = NOW;
  const materialOf = (agentId: string): WakeContext => ({
    agentId,
    sessions: [
      {
        kind: 'talk',
        sessionId: 's',
        addressed: true,
        messages: [said(agentId, agentId, 'Good night.', upTo)],
        earlier: 0,
      },
    ],
    earlier: 0,
  });
  const client = {
    schedules: () =>
      Promise.resolve({
        ok: true,
        value: {
          schedules: relay.scheduled.map((agentId) => ({
            elsewhere: null,
            schedule: { kind: 'routine', agentId, enabled: relay.enabled },
          })),
        },
      }),
    agentSnapshots: () =>
      Promise.resolve({
        ok: true,
        value: {
          snapshots: relay.snapshots,
          withdrawn: relay.withdrawn,
          ...(relay.everybody ? { everybody: true } : {}),
        },
      }),
    storeAgentSnapshot: ({ agentId, body }: { agentId: string; body: { version: string; snapshot: unknown } }) => {
      const left = { agentId, version: body.version, snapshot: body.snapshot };
      relay.left.push(left);
      relay.snapshots = [...relay.snapshots.filter((copy) => copy.agentId !== agentId), left];
      return Promise.resolve({ ok: true, value: null });
    },
  };
  const changes = createChanges();
  const due: (() => void)[] = [];
  const deps = {
    household: { store: createStore(() => ({ roster, settings, forgets: [] })) },
    live: { store: createStore(() => ({ link: { kind: 'live' } })) },
    wakeSizes: {
      read: (agents: readonly NonNullable<ReturnType<typeof roster.seats.get>>[]) =>
        Promise.resolve(agents.map((agent) => shareOf(agent, materialOf(agent.agentId), roster, settings))),
    },
    callRelay: (call: (it: typeof client) => unknown) => call(client),
    changes,
    device: { after: (_ms: number, act: () => void) => (due.push(act), () => void due.splice(due.indexOf(act), 1)) },
  } as unknown as AgentSnapshotsDeps;
  const snapshots = createAgentSnapshots(deps);
  const stop = snapshots.start();
  return {
    relay,
    stop,
    hear: () => snapshots.hearDocuments(),
    /** Something is scheduled anew, as its relay tells it. */
    tell: () => changes.tell({ what: 'schedules', agentId: null }),
    says: (at: number) => void (upTo = at),
    /** Lets what waits begin, and come to its end. */
    async quiet() {
      for (const act of due.splice(0)) act();
      // A part of it is fetched, which takes some turns also where it is there.
      for (let i = 0; i < 20; i++) await new Promise((resolve) => setTimeout(resolve, 0));
    },
  };
}

test('leaves a snapshot of each agent with a schedule, once, and again when this page knows newer words', async () => {
  const { relay, quiet, hear, says } = page();
  await quiet();
  expect(relay.left.map(({ agentId }) => agentId)).toEqual([AGENT]);
  hear();
  await quiet();
  expect(relay.left).toHaveLength(1);
  says(NOW + 1_000);
  hear();
  await quiet();
  expect(relay.left).toHaveLength(2);
  expect((relay.left[1]?.version ?? '') > (relay.left[0]?.version ?? '')).toBe(true);
});

test('does not replace a snapshot that knows more', async () => {
  const { relay, quiet, tell, says } = page();
  says(NOW + 60_000);
  await quiet();
  expect(relay.left).toHaveLength(1);
  says(NOW);
  tell();
  await quiet();
  expect(relay.left).toHaveLength(1);
});

test('leaves no snapshot that was withdrawn, of an agent without schedules, or after the page closed', async () => {
  const { relay, quiet, tell, stop } = page();
  relay.withdrawn = [AGENT];
  await quiet();
  relay.withdrawn = [];
  relay.enabled = false;
  tell();
  await quiet();
  relay.enabled = true;
  tell();
  stop();
  await quiet();
  expect(relay.left).toEqual([]);
});

test("leaves a snapshot in the page's language, and treats it as equal in another language", () => {
  const lyra = roster.seats.get(0);
  if (!lyra) throw new Error('Lyra has a seat');
  const share = shareOf(lyra, undefined, roster, settings);
  const [english, german] = ['en', 'de'].map((language) => snapshotOf(share, { roster, settings }, language));
  if (!english || !german) throw new Error('who has a seat leaves a copy');
  expect([english, german].map(({ language }) => language)).toEqual([undefined, 'de']);
  // Else two devices would leave theirs over each other's for as long as both are open.
  expect(versionOf(german, NOW)).toBe(versionOf(english, NOW));
});

test("leaves snapshots of all agents and the lead's session settings when an application may start one", async () => {
  const { relay, quiet, tell } = page();
  relay.scheduled = [];
  await quiet();
  expect(relay.left).toEqual([]);
  relay.everybody = true;
  tell();
  await quiet();
  expect(relay.left.map(({ agentId }) => agentId).sort()).toEqual([AGENT, 'agent-2', 'lead']);
  const lead = relay.left.find(({ agentId }) => agentId === 'lead');
  expect(agentSnapshotSchema.parse(lead?.snapshot)).toMatchObject({
    position: 4,
    human: 'Marcus',
    session: { maxAnswerTokens: settings.maxAnswerTokens, idleMs: settings.idleMs },
  });
});

test("leaves the lead's snapshot with its seat and its present name", async () => {
  const { relay, quiet } = page();
  relay.scheduled = ['lead'];
  await quiet();
  expect(relay.left.map(({ agentId }) => agentId)).toEqual(['lead']);
  const lead = roster.lead ?? expect.fail('There is no lead.');
  const copy = snapshotOf(shareOf(lead, undefined, roster, settings), { roster, settings }, 'en');
  expect(copy).toMatchObject({ position: 4, colorName: 'Gold', human: 'Marcus', lead: copy?.name });
});
