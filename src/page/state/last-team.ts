/**
 * The team as this browser showed it last, small enough to read before the first paint. The grid
 * shows it while the worker opens the ledger. The ledger's content then replaces it.
 */
import type { SyncStatus } from '../../shared/protocol/sync/page.ts';
import { type Agent, type AgentChange, type Identity, type Roster, rosterOf } from '../../shared/domain/agent.ts';
import { isSameName, NAME_MAX } from '../../shared/domain/names.ts';
import { LIMITS } from '../../shared/protocol/limits.ts';
import type { Team } from '../../shared/protocol/team.ts';
import { choicesOf } from '../../shared/domain/choices.ts';
import { type SettingRecord, type Settings, settingsOf } from '../../shared/domain/settings.ts';
import { wins } from '../../shared/protocol/documents/kinds.ts';
import type { SettingDoc } from '../../shared/protocol/documents.ts';
import { t } from '../language/t.ts';
import { type Household, type HouseholdState, humanNameOf } from './household.ts';
import { livesThere, type RelayInfoState } from './relay-info.ts';
import type { Parts } from './actions/parts.ts';
import { isRefusedAs, problemText, type TextStorage } from './ports.ts';

// What the page shows first. This is the only place that decides it.

export type FirstScreen =
  /** The household is not known yet. */
  | 'opening'
  /** A team lived here, and the browser lost its storage. */
  | 'returning'
  /**
   * No team is known here, but people live at the relay: does the person join them, or begin a
   * household beside them?
   */
  | 'asked'
  /** No team has ever lived here. */
  | 'welcome'
  | 'home';

interface Known {
  readonly household: Pick<HouseholdState, 'status' | 'roster'>;
  /** null: unknown yet. */
  readonly sync: SyncStatus | null;
  /** Why the request failed; null: it succeeded, or was not made yet. */
  readonly syncFailed: string | null;
  readonly home: RelayInfoState['home'];
}

/**
 * A team that is here comes first. The mark of a lost team comes before any question for newcomers.
 */
export function firstScreenOf({ household, sync, syncFailed, home }: Known): FirstScreen {
  // Read, or as it was shown last.
  if (household.status === 'failed' || household.roster.lead !== null) return 'home';
  if (household.status === 'loading') return 'opening';
  if (sync?.kind === 'returning') return 'returning';
  if (sync === null && syncFailed === null) return 'opening';
  // This device joined a household whose documents are on their way.
  if (sync?.kind === 'shared') return 'welcome';
  if (home === 'asking') return 'opening';
  return livesThere({ home }) === null ? 'welcome' : 'asked';
}

/** The answer that `opening` waits for. */
export type Awaited = 'ledger' | 'devices' | 'relay';

/** null: none, the screen is decided. */
export function awaitedOf(known: Known): Awaited | null {
  if (firstScreenOf(known) !== 'opening') return null;
  if (known.household.status === 'loading') return 'ledger';
  return known.sync === null ? 'devices' : 'relay';
}

// Announces the team to the relay whenever it or the connection changes: names, seats and forgotten
// agents, never souls.

/**
 * The team as the relay's directory takes it. An agent whose seat is taken has no position. An
 * agent with the person's name has its colour added to the name.
 */
export function teamOf(roster: Roster, person: string): Team {
  const seated = new Set(
    [...roster.seats.values(), ...(roster.lead ? [roster.lead] : [])].map(({ agentId }) => agentId),
  );
  const member = ({ agentId, name, colorName, position, retired }: Agent) => ({
    agentId,
    name: isSameName(name, person) ? `${name.slice(0, NAME_MAX / 2)} ${colorName}` : name,
    position: seated.has(agentId) ? position : null,
    retired,
  });
  return { agents: [...roster.byId.values()].map(member) };
}

/** Returns a function that unsubscribes. */
export function announceTeam({
  household,
  live,
  callRelay,
  relay,
  notices,
}: Pick<Parts, 'household' | 'live' | 'callRelay' | 'relay' | 'notices'>): () => void {
  /** The team that the connected relay has. */
  let announced = '';
  let announcing = false;
  /** The parts from which `announced` was made. */
  let madeFrom: readonly unknown[] = [];

  async function liveBeside() {
    const begun = await relay.beginHome({ body: { beside: true } });
    if (!begun.ok) return notices.error(problemText(begun.problem));
    await announce();
  }

  async function announce() {
    const { status, roster, settings, forgotten } = household.store.getState();
    if (live.store.getState().link.kind !== 'live') {
      announced = '';
      return;
    }
    // An empty browser announces nothing: its sign-in may belong to a team that other browsers
    // hold.
    if (announcing || status !== 'ready' || roster.byId.size === 0) return;
    const parts = [roster, settings, forgotten];
    if (announced !== '' && parts.every((part, at) => part === madeFrom[at])) return;
    const team = { ...teamOf(roster, humanNameOf(settings)), forgotten: forgotten.slice(-LIMITS.forgotten) };
    const text = JSON.stringify(team);
    if (text === announced) {
      madeFrom = parts;
      return;
    }
    announcing = true;
    const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
    const result = await callRelay((client) => client.putTeam({ body: { ...team, timeZone } }));
    announcing = false;
    // If it did not arrive, the next change or connection announces it again.
    if (!result.ok) {
      // This team began elsewhere or without its relay. It does not move in beside others unasked.
      if (isRefusedAs(result.problem, 'not-begun'))
        notices.offer(t`Another household lives at this relay. This browser’s team is not known to it yet.`, {
          label: t`Let it live there too`,
          run: () => void liveBeside(),
        });
      else if (result.problem.kind === 'refused')
        notices.error(t`The relay did not take the team’s names: ${problemText(result.problem)}`);
      return;
    }
    [announced, madeFrom] = [text, parts];
    await announce();
  }

  const stops = [household.store, live.store].map((store) => store.subscribe(() => void announce()));
  return () => stops.forEach((stop) => stop());
}

/** Key in localStorage. Bump the number when the format changes. */
const KEPT_AS = 'roost-last-team-1';
/** Characters. Larger teams are not stored, since every page reads this before its first paint. */
const MOST = 300_000;

interface LastTeam {
  readonly identities: readonly Identity[];
  readonly changes: readonly AgentChange[];
  readonly settings: readonly SettingRecord[];
}

const isList = (value: unknown): boolean =>
  Array.isArray(value) && value.every((one) => typeof one === 'object' && one !== null);
/** Only this module writes it, under a versioned key. */
const isLastTeam = (value: unknown): value is LastTeam =>
  typeof value === 'object' &&
  value !== null &&
  'identities' in value &&
  'changes' in value &&
  'settings' in value &&
  isList(value.identities) &&
  isList(value.changes) &&
  isList(value.settings);

/** One identity with all current values, whatever was changed over the years. */
const identityOf = (agent: Agent): Identity => ({
  id: agent.agentId,
  agentId: agent.agentId,
  name: agent.birthName,
  color: agent.color,
  colorName: agent.colorName,
  position: agent.position ?? -1,
  individuationArtifact: agent.soul,
  bornAt: agent.bornAt,
  bornSessionId: agent.bornSessionId,
});
const renameOf = ({ agentId, name }: Agent): AgentChange => ({
  id: agentId,
  agentId,
  at: '',
  change: { kind: 'rename', name },
});

/** What the page showed last; null: nothing readable. */
export function readLastTeam(storage: TextStorage): { readonly roster: Roster; readonly settings: Settings } | null {
  const text = storage.read(KEPT_AS);
  if (text === null) return null;
  try {
    const kept: unknown = JSON.parse(text);
    if (!isLastTeam(kept)) return null;
    const settings = settingsOf(kept.settings);
    const roster = rosterOf(kept.identities, kept.changes, settings.humanName, choicesOf(kept.settings));
    return { roster, settings };
  } catch (error) {
    // Only foreign code can have written an unreadable value. The ledger arrives in a moment.
    console.warn('The team as it was last cannot be read:', error);
    return null;
  }
}

/**
 * Writes the team whenever it or its settings change. Forgotten agents are left out. Returns a
 * function that unsubscribes.
 */
export function storeLastTeam(storage: TextStorage, { store }: Household): () => void {
  let last: string | null = null;
  return store.subscribe(({ status, roster, settingDocs }, before) => {
    if (status !== 'ready') return;
    if (before.status === 'ready' && roster === before.roster && settingDocs === before.settingDocs) return;
    const newest = new Map<string, SettingDoc>();
    for (const doc of settingDocs.values()) {
      const held = newest.get(doc.key);
      if (!held || wins(doc, held)) newest.set(doc.key, doc);
    }
    const agents = [...roster.byId.values()].filter(({ retired }) => !retired);
    const team: LastTeam = {
      identities: agents.map(identityOf),
      changes: agents.map(renameOf),
      settings: [...newest.values()].map(({ _id, key, value, at }) => ({ id: _id, key, value, at })),
    };
    const text = roster.lead === null ? '' : JSON.stringify(team);
    if (text === last) return;
    last = text;
    // If storage is full, nothing is stored and the page opens without it.
    if (text.length > MOST || !storage.write(KEPT_AS, text)) storage.write(KEPT_AS, '');
  });
}
