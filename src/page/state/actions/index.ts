/** All actions of the person, in one object. */
import { checkName, isSameName } from '../../../shared/domain/names.ts';
import { LEAD_ID } from '../../../shared/domain/seat.ts';
import type { ChangeKind } from '../../../shared/domain/agent.ts';
import type { AgentChoice, ChoiceKey } from '../../../shared/domain/choices.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import type { SettingKey, Settings } from '../../../shared/domain/settings.ts';
import type { ForgetDoc } from '../../../shared/protocol/documents.ts';
import { t } from '../../language/t.ts';
import { writeChange } from '../documents.ts';
import { HOLDS_AT_ONCE, runningSettingsOf } from '../running-settings.ts';
import { errorText, isRefusedAs, problemText } from '../ports.ts';
import type { HouseholdLimits } from '../relay-info.ts';
import { attempt, DONE, type Done, type Parts } from './parts.ts';
import { createTalkActions, type TalkActions } from './talk.ts';
import { createTeamActions, type TeamActions } from './team.ts';

// First visit, settings and seats. The page shows a change as saved only once the ledger has it.

interface HomeActions {
  /**
   * The first visit: writes the lead's identity and both names. `beside`: also where other people
   * live at the relay.
   */
  begin(names: { readonly human: string; readonly lead: string; readonly beside: boolean }): Promise<Done>;
  saveSetting<K extends SettingKey>(key: K, value: Settings[K]): Promise<Done>;
  /** Writes several settings that need no validation as one change: all of them or none. */
  saveSettings(values: Partial<Omit<Settings, 'humanName' | 'leadName'>>): Promise<Done>;
  /** Writes changes of one agent together: a name, a seat, retiring, returning. */
  changeAgent(agentId: AgentId, changes: readonly ChangeKind[]): Promise<Done>;
  /** The same for several agents: all changes are written, or none. */
  changeAgents(changes: readonly { readonly agentId: AgentId; readonly change: ChangeKind }[]): Promise<Done>;
  /** Sets an agent's own choices; an empty value resets one to the default. */
  choose(agentId: AgentId, choice: Partial<AgentChoice>): Promise<Done>;
  /**
   * Sets the model of everybody, of the lead or of one agent. `everybody` replaces own choices of
   * agents. Empty: the default.
   */
  chooseModel(who: AgentId | 'everybody', model: string): Promise<Done>;
  /** Reconnects to the relay now. */
  reconnect(): Promise<void>;
  /**
   * This browser shares its sign-in with another household. It gets a sign-in of its own, and with
   * that its own home.
   */
  takeOwnSignIn(): Promise<void>;
  /** Reads the household again after a failure. */
  reload(): Promise<void>;
  refreshHealth(): Promise<void>;
  /** Asks the relay whether other people live there. */
  refreshHome(): Promise<void>;
}

function createHomeActions(parts: Parts): HomeActions {
  const { dataWorker, relay, callRelay, writer, clock, household, live, notices, info } = parts;
  const write = (make: Parameters<typeof writeChange>[1]) => writeChange(parts, make);

  /** Writes a change that a running session has from each agent's next answer on. */
  async function writeForSession(make: Parameters<typeof writeChange>[1]): Promise<Done> {
    const written = await write(make);
    if (!written.ok || live.store.getState().live === null) return written;
    const { roster, settings } = household.store.getState();
    const set = await callRelay((client) => client.changeSession({ body: runningSettingsOf(roster, settings) }));
    // A session that has just ended is no problem: the next one starts with them.
    if (set.ok || isRefusedAs(set.problem, 'no-session')) return DONE;
    return { ok: false, reason: t`Saved, but the running session refused the change: ${problemText(set.problem)}` };
  }

  const saveName = (key: 'humanName' | 'leadName', name: string) =>
    write(() => {
      const { humanName, leadName } = household.store.getState().settings;
      const checked = key === 'humanName' ? checkName(name, 'person') : checkName(name, 'lead', humanName);
      if (!checked.ok) return { ok: false, reason: errorText(checked.reason) };
      if (key === 'humanName' && isSameName(checked.name, leadName))
        return {
          ok: false,
          reason: t`Somebody here has the name “${checked.name}”, or one that looks the same. Choose another.`,
        };
      return [
        writer.setting(key, checked.name),
        // The lead's name is part of its identity, as with every agent.
        ...(key === 'leadName' ? [writer.change(LEAD_ID, { kind: 'rename', name: checked.name })] : []),
      ];
    });

  /**
   * If the home of this browser's sign-in is taken, the first call creates a new sign-in and the
   * second begins the household. A lost answer leaves no home behind.
   */
  async function beginHome(beside: boolean) {
    const body = { beside, anew: beside };
    const first = await relay.beginHome({ body });
    return first.ok && !first.value.begun ? await relay.beginHome({ body }) : first;
  }

  async function refreshHome(): Promise<void> {
    const home = await relay.home();
    info.setState({ home: home.ok ? home.value : 'unreachable' });
  }

  return {
    async begin({ human, lead, beside }) {
      const called = checkName(human, 'person');
      const led = called.ok ? checkName(lead, 'lead', called.name) : called;
      if (!called.ok) return { ok: false, reason: errorText(called.reason) };
      if (!led.ok) return { ok: false, reason: errorText(led.reason) };
      const begun = await beginHome(beside);
      // Also without an answer: the cookie may have arrived.
      const signInResult = beside ? await attempt(dataWorker.call('signInChanged')) : DONE;
      if (!signInResult.ok) return signInResult;
      // A household may begin without its relay. Where other people live at the relay, it never
      // begins unasked, nor before this browser has a sign-in of its own.
      if (begun.ok) info.setState({ home: begun.value });
      else if (beside || (begun.problem.kind === 'refused' && begun.problem.problem.status === 409)) {
        await refreshHome();
        return { ok: false, reason: problemText(begun.problem) };
      }
      // If the button was pressed in two tabs at once, all names of the first hold.
      if (household.store.getState().roster.lead) {
        notices.info(t`Another tab has already started. You can change the names under Settings, You.`);
        return DONE;
      }
      return await write(() => [
        writer.setting('humanName', called.name),
        writer.setting('leadName', led.name),
        writer.leadIdentity(led.name),
      ]);
    },
    saveSetting(key, value) {
      if ((key === 'humanName' || key === 'leadName') && typeof value === 'string') return saveName(key, value);
      const save = HOLDS_AT_ONCE.has(key) ? writeForSession : write;
      return save(() => [writer.setting(key, value)]);
    },
    saveSettings(values) {
      const given = Object.entries(values) as readonly (readonly [SettingKey, Settings[SettingKey]])[];
      const save = given.some(([key]) => HOLDS_AT_ONCE.has(key)) ? writeForSession : write;
      return save(() => given.map(([key, value]) => writer.setting(key, value)));
    },
    changeAgent(agentId, changes) {
      return write(() => changes.map((change) => writer.change(agentId, change)));
    },
    changeAgents(changes) {
      return write(() => changes.map(({ agentId, change }) => writer.change(agentId, change)));
    },
    choose(agentId, choice) {
      const given = Object.entries(choice) as readonly (readonly [ChoiceKey, string])[];
      const save = choice.model === undefined ? write : writeForSession;
      return save(() => given.map(([key, value]) => writer.choice(agentId, key, value)));
    },
    chooseModel(who, model) {
      const { roster } = household.store.getState();
      if (who !== 'everybody' && who !== LEAD_ID) return writeForSession(() => [writer.choice(who, 'model', model)]);
      const own = who === LEAD_ID ? [] : [...roster.byId.values()].filter((agent) => agent.model !== '');
      return writeForSession(() => [
        writer.setting('leadModel', model),
        ...(who === LEAD_ID ? [] : [writer.setting('agentModel', model)]),
        ...own.map(({ agentId }) => writer.choice(agentId, 'model', '')),
      ]);
    },
    async reconnect() {
      const tried = await attempt(dataWorker.call('reconnect'));
      if (!tried.ok) notices.error(tried.reason);
    },
    async takeOwnSignIn() {
      const taken = await relay.beginHome({ body: { beside: true, anew: true } });
      if (!taken.ok) notices.refused(taken.problem);
      const told = await attempt(dataWorker.call('signInChanged'));
      if (!told.ok) notices.error(told.reason);
    },
    async reload() {
      const read = await attempt(
        dataWorker.call('household').then((view) => {
          // Everything written from now on is dated later than what is there, whatever this
          // device's clock says.
          clock.follow(view.newest);
          household.load(view);
        }),
      );
      if (!read.ok) household.fail(read.reason);
    },
    refreshHome,
    async refreshHealth() {
      const health = await relay.health();
      if (health.ok) info.setState({ health: health.value });
    },
  };
}

/** Forgets an agent or a conversation, and undoes that. */
interface ForgetActions {
  /**
   * Hides it at once. It can be undone until its `finalAt`, by a notice with this text too.
   * Returns the documents that were written.
   */
  forget(
    target: ForgetDoc['target'],
    text?: string,
  ): Promise<{ readonly ok: true; readonly asked: ForgetDoc } | Extract<Done, { ok: false }>>;
  /** Undoes a `forget`. */
  keep(forgetId: string): Promise<Done>;
  /** Removes what these cover from every store that shows it. */
  hide(forgets: readonly ForgetDoc[]): void;
}

function createForgetActions({
  dataWorker,
  writer,
  household,
  conversations,
  unread,
  device,
  notices,
}: Parts): ForgetActions {
  function hide(forgets: readonly ForgetDoc[]) {
    household.take(forgets);
    conversations.conceal();
    for (const { target } of forgets) if (target.agentId !== null) unread.drop(target.agentId);
  }
  const actions: ForgetActions = {
    hide,
    async forget(target, text) {
      const forgetting = writer.forget(target);
      const written = await attempt(dataWorker.call('append', [forgetting]));
      if (!written.ok) return written;
      hide([forgetting]);
      if (text === undefined) return { ok: true, asked: forgetting };
      async function undo() {
        const kept = await actions.keep(forgetting._id);
        if (!kept.ok) notices.error(t`Could not save this. ${kept.reason}`);
      }
      const note = notices.info(text, { label: t`Keep after all`, run: () => void undo() });
      if (target.kind !== 'agent') device.after(forgetting.finalAt - forgetting.askedAt, () => notices.dismiss(note));
      return { ok: true, asked: forgetting };
    },
    async keep(forgetId) {
      const undo = writer.forgetUndo(forgetId);
      const written = await attempt(dataWorker.call('append', [undo]));
      // What becomes visible again is read once the data worker announces it, as in every tab.
      if (written.ok) household.take([undo]);
      return written;
    },
  };
  return actions;
}

/** Maintenance of the ledger. */
interface UpkeepActions {
  /**
   * Checks every volume and rebuilds the views. Does nothing while this tab is already rebuilding.
   */
  rebuild(): Promise<void>;
}

function createUpkeepActions({ dataWorker, upkeep }: Parts): UpkeepActions {
  return {
    async rebuild() {
      if (upkeep.getState().rebuild.kind === 'running') return;
      upkeep.setState({ rebuild: { kind: 'running' } });
      try {
        upkeep.setState({ rebuild: { kind: 'done', report: await dataWorker.call('rebuild') } });
      } catch (error) {
        // Shown next to the button.
        upkeep.setState({
          rebuild: { kind: 'failed', reason: errorText(error) },
        });
      }
    },
  };
}

/** The household's switch that stops all wakes but the person's own. */
interface WakeActions {
  /**
   * Takes effect at once, for all agents. Resolves when the relay has it. If the relay refuses, a
   * notice says so.
   */
  stopWakes(stopped: boolean): Promise<void>;
}

function createWakeActions({
  notices,
  limits,
}: Pick<Parts, 'notices'> & { readonly limits: HouseholdLimits }): WakeActions {
  return {
    async stopWakes(stopped) {
      const put = await limits.change((own) => ({ ...own, wakes_enabled: !stopped }));
      if (!put.ok) notices.error(t`Could not do this. ${problemText(put.problem)}`);
    },
  };
}

export type Actions = HomeActions & TeamActions & TalkActions & ForgetActions & UpkeepActions & WakeActions;

export const createActions = (parts: Parts, limits: Parameters<typeof createWakeActions>[0]['limits']): Actions => ({
  ...createHomeActions(parts),
  ...createForgetActions(parts),
  ...createUpkeepActions(parts),
  ...createTeamActions(parts),
  ...createTalkActions(parts),
  ...createWakeActions({ notices: parts.notices, limits }),
});
