/**
 * The team as this browser showed it last, small enough to be read before the first paint: the grid
 * stands there while the worker is still opening the ledger. What the ledger says then takes its
 * place, whatever it is.
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
import type { Household, HouseholdState } from './household.ts';
import { livesThere, type RelayInfoState } from './relay-info.ts';
import type { Parts } from './actions/parts.ts';
import { isRefusedAs, problemText, type TextStorage } from './ports.ts';
import { humanNameOf } from './people.ts';

// What the page shows first. The one place that decides it.

export type FirstScreen =
  /** It is not known yet who lives here. */
  | 'opening'
  /** Somebody lived here, and the browser lost their storage. */
  | 'returning'
  /**
   * Nobody is known to have lived here, and somebody lives at the relay: theirs, or one beside it?
   */
  | 'asked'
  /** Nobody has ever lived here. */
  | 'welcome'
  | 'home';

interface Known {
  readonly household: Pick<HouseholdState, 'status' | 'roster'>;
  /** null: not known yet. */
  readonly sync: SyncStatus | null;
  /** Why that could not be asked for; null: it could, or nobody asked yet. */
  readonly syncFailed: string | null;
  readonly home: RelayInfoState['home'];
}

/**
 * A team that is here comes before everything; the mark of one comes before every question to
 * somebody new.
 */
export function firstScreenOf({ household, sync, syncFailed, home }: Known): FirstScreen {
  // Known, or as it was shown last.
  if (household.status === 'failed' || household.roster.lead !== null) return 'home';
  if (household.status === 'loading') return 'opening';
  if (sync?.kind === 'returning') return 'returning';
  if (sync === null && syncFailed === null) return 'opening';
  // It has joined somebody, and they are on their way.
  if (sync?.kind === 'shared') return 'welcome';
  if (home === 'asking') return 'opening';
  return livesThere({ home }) === null ? 'welcome' : 'asked';
}

/** Whose answer `opening` waits for. */
export type Awaited = 'ledger' | 'devices' | 'relay';

/** null: nobody's, what is shown is decided. */
export function awaitedOf(known: Known): Awaited | null {
  if (firstScreenOf(known) !== 'opening') return null;
  if (known.household.status === 'loading') return 'ledger';
  return known.sync === null ? 'devices' : 'relay';
}

// Tells the relay who the household has, and who was forgotten, whenever that or the line to it
// changes: names and seats, never souls.

/**
 * Everybody, as the relay's directory takes it. Who waits for a seat that another has is without
 * one; who has the person's name has its colour in it.
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

/** Returns the way to stop. */
export function announceTeam({
  household,
  live,
  reach,
  relay,
  notices,
}: Pick<Parts, 'household' | 'live' | 'reach' | 'relay' | 'notices'>): () => void {
  /** What the relay at the other end of this line has. */
  let announced = '';
  let announcing = false;

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
    // A browser that keeps nobody has nothing to say of who lives there: its sign-in may be of a
    // team that others keep.
    if (announcing || status !== 'ready' || roster.byId.size === 0) return;
    const team = { ...teamOf(roster, humanNameOf(settings)), forgotten: forgotten.slice(-LIMITS.forgotten) };
    const text = JSON.stringify(team);
    if (text === announced) return;
    announcing = true;
    const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
    const result = await reach((client) => client.putTeam({ body: { ...team, timeZone } }));
    announcing = false;
    // Where it did not arrive, the next change or the next connection says it again.
    if (!result.ok) {
      // This team began elsewhere, or without its relay: it does not come to live beside others
      // unasked.
      if (isRefusedAs(result.problem, 'not-begun'))
        notices.offer(t`Another household lives at this relay. This browser’s team is not known to it yet.`, {
          label: t`Let it live there too`,
          run: () => void liveBeside(),
        });
      else if (result.problem.kind === 'refused')
        notices.error(t`The relay did not take the team’s names: ${problemText(result.problem)}`);
      return;
    }
    announced = text;
    await announce();
  }

  const stops = [household.store, live.store].map((store) => store.subscribe(() => void announce()));
  return () => stops.forEach((stop) => stop());
}

/** Its name in localStorage; the number goes up when what stands there is written otherwise. */
const KEPT_AS = 'roost-last-team-1';
/**
 * Characters: of a larger one nothing is kept, it would be read by every page before anything is
 * painted.
 */
const MOST = 300_000;

interface LastTeam {
  readonly identities: readonly Identity[];
  readonly changes: readonly AgentChange[];
  readonly settings: readonly SettingRecord[];
}

const isList = (value: unknown): boolean =>
  Array.isArray(value) && value.every((one) => typeof one === 'object' && one !== null);
/** Written by this file alone, under a name that says how. */
const isLastTeam = (value: unknown): value is LastTeam =>
  typeof value === 'object' &&
  value !== null &&
  'identities' in value &&
  'changes' in value &&
  'settings' in value &&
  isList(value.identities) &&
  isList(value.changes) &&
  isList(value.settings);

/**
 * As it would be written down anew: one identity with what holds now, whatever was changed over the
 * years.
 */
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

/** What the page showed last; null: nothing that can be read. */
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
    // Only somebody else can have written what is not read: the ledger is there in a moment.
    console.warn('The team as it was last cannot be read:', error);
    return null;
  }
}

/**
 * Writes it whenever the team or its settings are others. Nobody that was let go is in it. Returns
 * the way to stop.
 */
export function keepLastTeam(storage: TextStorage, { store }: Household): () => void {
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
    // A full storage keeps nothing: the page opens as it did before.
    if (text.length > MOST || !storage.write(KEPT_AS, text)) storage.write(KEPT_AS, '');
  });
}
