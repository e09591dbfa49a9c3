/**
 * The settings page: its sections, its search, and the sections of the team and the wake prompt.
 */
import { lazy, type ReactNode, Suspense, useEffect, useId, useRef, useState } from 'react';
import { Link } from 'wouter';
import { useLocationProperty } from 'wouter/use-browser-location';
import { isRecord } from '../../../shared/domain/platform/json.ts';
import {
  DEFAULT_LIMITS,
  DEFAULT_SLEEP_WAIT_SECONDS,
  HAND_BOUNDS,
  PULSE_BOUNDS,
} from '../../../shared/domain/guardrails.ts';
import { DEFAULT_SETTINGS, SETTING_TEXT_MAX, type SettingKey, type Settings } from '../../../shared/domain/settings.ts';
import { DEFAULT_COORDINATION, type HouseholdConfig } from '../../../shared/protocol/config.ts';
import { type Rehearsal, rehearsalSchema } from '../../../shared/protocol/http.ts';
import type { SyncStatus } from '../../../shared/protocol/sync/page.ts';
import { type Agent, type ChangeKind, displayName, emptySeats } from '../../../shared/domain/agent.ts';
import { lifecycleOf } from '../../../shared/domain/lifecycle.ts';
import { isSeatPosition, SEAT_ORDER, seatColor, seatNumber } from '../../../shared/domain/seat.ts';
import { parseTemplate, PLACEHOLDERS } from '../../../shared/domain/prompts.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { costQueriesOf } from '../../state/costs.ts';
import { notificationsOf, USUAL_CHOICE } from '../../state/notifications.ts';
import { moveToSeat } from '../../state/groups.ts';
import { retold, t } from '../../language/t.ts';
import { errorText } from '../../state/ports.ts';
import { payloadOf, type WakeShare } from '../../state/wake-sizes.ts';
import { wakeAround, wakePromptOf } from '../../state/wake-context.ts';
import { useActions, useDevices, useHousehold, useLive, useRoost } from '../context.tsx';
import { areOwn, CostsSection } from '../costs/costs-section.tsx';
import { useRehearsing } from '../models/chip.tsx';
import { PATHS, SETTINGS_SECTIONS, type SettingsSection } from '../routes.ts';
import { TWO_VIEWS_BELOW, useMedia, useNow, useQuery } from '../hooks.ts';
import { Face } from '../grid/face.tsx';
import { fullTime } from '../text/time.ts';
import { TEMPLATES } from '../protocol-templates.ts';
import { count } from '../text/sizes.ts';
import { AttachedSection } from '../attached/attached-section.tsx';
import { ClientsSection } from '../clients/clients-section.tsx';
import { CopiesSection } from '../copies/copies-section.tsx';
import { NotificationsSection } from '../notifications/notifications-section.tsx';
import { DevicesSection } from '../devices/devices-section.tsx';
import { ProgramsSection } from '../programs/programs-section.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { LimitsSection } from '../limits/limits-section.tsx';
import { InsideSection, StorageSection } from '../storage/storage-section.tsx';
import { BackIcon } from '../design/icons.tsx';
import { keyOf } from '../design/keys.ts';
import { SECTIONS, sectionsIn, SETTINGS_GROUPS, settingsNamed } from './named.ts';
import { About, Minds, People, RehearsalSection, Waking } from './sections.tsx';
import './settings.css';

// Counts the settings that differ from their defaults, by section.

/** The household's settings by section. Names have no default and do not count. */
const IN_SECTION: Partial<Record<SettingsSection, readonly SettingKey[]>> = {
  waking: ['transcriptCap', 'wakeTimeoutMs', 'birthTimeoutMs', 'idleMs'],
  minds: ['leadModel', 'agentModel', 'maxAnswerTokens', 'contextTokens'],
  prompt: ['wakeTemplate'],
};

export const isChanged = (settings: Settings, key: SettingKey): boolean => settings[key] !== DEFAULT_SETTINGS[key];

/**
 * Number of values in `own`, at any depth, that differ from those in `usual`. Unset values do not
 * count; a list is one value.
 */
function differing(own: unknown, usual: unknown): number {
  if (own === undefined) return 0;
  if (!isRecord(own) || !isRecord(usual)) return JSON.stringify(own) === JSON.stringify(usual) ? 0 : 1;
  return Object.entries(own).reduce((sum, [key, value]) => sum + differing(value, usual[key]), 0);
}

/**
 * The default limits. Budgets have a section of their own, and the switch stops wakes only
 * temporarily, so neither is included.
 */
const USUAL_LIMITS = {
  coordination: DEFAULT_COORDINATION,
  flood_guard: { max_wakes: DEFAULT_LIMITS.floodMaxWakes, window_seconds: DEFAULT_LIMITS.floodWindowSeconds },
  sleep_wait_seconds: DEFAULT_SLEEP_WAIT_SECONDS,
  programs_at_once: HAND_BOUNDS.programs_at_once.otherwise,
  pulse_container_timeout_ms: PULSE_BOUNDS.pulse_container_timeout_ms.otherwise,
  pulse_busy_wait_ms: PULSE_BOUNDS.pulse_busy_wait_ms.otherwise,
  pulse_max_consecutive_skips: PULSE_BOUNDS.pulse_max_consecutive_skips.otherwise,
  pulse_max_turns: PULSE_BOUNDS.pulse_max_turns.otherwise,
};
const changedLimits = (own: HouseholdConfig): number =>
  differing(
    {
      ...own,
      wakes_enabled: undefined,
      daily_budget_usd: undefined,
      coordination: { ...own.coordination, daily_budget_usd: undefined },
    },
    USUAL_LIMITS,
  );
const changedBudgets = ({ daily_budget_usd: all, coordination: { daily_budget_usd: each } }: HouseholdConfig) =>
  [all, each].filter((budget) => budget !== null && budget !== undefined).length;

function keepsNothingAtRelay(status: SyncStatus | null): boolean {
  if (status?.kind === 'shared') return status.link === 'off';
  return status?.kind === 'alone' && status.kept?.link === 'off';
}

/**
 * How the demo mind misbehaves; null: unknown yet, or there is no demo mind. Read again with each
 * section, since no event announces changes.
 */
function useRehearsal(section: SettingsSection | null): Rehearsal | null {
  const { relay } = useRoost();
  const rehearsing = useRehearsing();
  const [held, setHeld] = useState<Rehearsal | null>(null);
  useEffect(() => {
    if (!rehearsing) return undefined;
    let left = false;
    void relay.getRehearsal().then((got) => left || setHeld(got.ok ? got.value : null));
    return () => {
      left = true;
    };
  }, [relay, rehearsing, section]);
  return rehearsing ? held : null;
}

/**
 * The number of changed settings, for each section that has any. `section`: the one that is shown.
 */
export function useChangedSettings(section: SettingsSection | null): ReadonlyMap<SettingsSection, number> {
  const state = useRoost();
  const settings = useHousehold((household) => household.settings);
  const limits = useQuery(state.limits.query);
  const prices = useQuery(costQueriesOf(state).prices);
  const atRelay = useDevices(({ status }) => (keepsNothingAtRelay(status) ? 1 : 0));
  const rehearsal = useRehearsal(section);
  const told = notificationsOf(state);
  // The relay's answer about devices may also change this device's choice.
  useQuery(told.shown);
  const ofLedger = Object.entries(IN_SECTION).map(
    ([name, keys]) => [name as SettingsSection, keys.filter((key) => isChanged(settings, key)).length] as const,
  );
  const own = limits.kind === 'ready' ? limits.value.own : null;
  const others: readonly (readonly [SettingsSection, number])[] = [
    ['limits', own === null ? 0 : changedLimits(own)],
    [
      'costs',
      (own === null ? 0 : changedBudgets(own)) + (prices.kind === 'ready' && !areOwn(prices.value.prices) ? 1 : 0),
    ],
    ['notifications', differing(told.choice(), USUAL_CHOICE)],
    ['devices', atRelay],
    ['rehearsal', rehearsal === null ? 0 : differing(rehearsal, rehearsalSchema.parse({}))],
  ];
  return new Map([...ofLedger, ...others].filter(([, many]) => many > 0));
}

function useChange() {
  const actions = useActions();
  const { notices } = useRoost();
  return async (agent: Agent, changes: readonly ChangeKind[], said: string, undo: readonly ChangeKind[]) => {
    const done = await actions.changeAgent(agent.agentId, changes);
    if (!done.ok) notices.error(t`This could not be saved: ${done.reason}`);
    else notices.info(said, { label: t`Undo`, run: () => void actions.changeAgent(agent.agentId, undo) });
  };
}

function GiveSeat({ agent }: { agent: Agent }) {
  const roster = useHousehold((state) => state.roster);
  const births = useLive((state) => state.live?.births);
  const change = useChange();
  const free = emptySeats(roster).filter((position) => !births?.has(position));
  const [chosen, setChosen] = useState<number | null>(null);
  const seat = chosen ?? free[0] ?? null;
  if (seat === null)
    return <p className="setting-hint">{t`Every seat is taken. One is free when somebody retires.`}</p>;
  return (
    <div className="setting-row">
      <label>
        <span className="visually-hidden">{t`Seat for ${agent.name}`}</span>
        <select className="field field-select" value={seat} onChange={(event) => setChosen(Number(event.target.value))}>
          {free.map((position) => (
            <option key={position} value={position}>
              {t`Seat ${seatNumber(position)} · ${seatColor(position).colorName}`}
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        className="ghost"
        onClick={() => {
          const there: ChangeKind = { kind: 'seat', position: seat };
          const back: ChangeKind = { kind: 'seat', position: agent.position };
          if (agent.retired)
            void change(agent, [there, { kind: 'return' }], t`${agent.name} is back, in seat ${seatNumber(seat)}.`, [
              { kind: 'retire' },
              back,
            ]);
          else void change(agent, [there], t`${agent.name} has seat ${seatNumber(seat)}.`, [back]);
        }}
      >
        {agent.retired ? t`Bring back` : t`Give this seat`}
      </button>
    </div>
  );
}

function Row({ agent, children }: { agent: Agent; children: React.ReactNode }) {
  const roster = useHousehold((state) => state.roster);
  return (
    <li className="team-row tint" style={{ '--c': agent.color }}>
      <span className="team-face">
        <Face agentId={agent.agentId} face={agent.face} color={agent.color} awake={false} />
      </span>
      <div className="team-who">
        <Link href={PATHS.agent(agent.agentId)}>{displayName(agent, roster)}</Link>
        <small>
          {t`${
            isSeatPosition(agent.position) && roster.seats.get(agent.position)?.agentId === agent.agentId
              ? t`seat ${seatNumber(agent.position)} · `
              : ''
          }born ${fullTime(agent.bornAt)}`}
        </small>
      </div>
      {children}
    </li>
  );
}

/** An agent's seat. The agent who has the chosen seat takes the one it leaves. */
function SeatOf({ agent, position }: { agent: Agent; position: number }) {
  const roost = useRoost();
  const roster = useHousehold((state) => state.roster);
  return (
    <label>
      <span className="visually-hidden">{t`Seat of ${displayName(agent, roster)}`}</span>
      <select
        className="field field-select"
        value={position}
        onChange={({ target }) => {
          const chosen = Number(target.value);
          if (isSeatPosition(chosen)) void moveToSeat(roost, agent.agentId, chosen);
        }}
      >
        {SEAT_ORDER.map((seat) => {
          const there = roster.seats.get(seat);
          return (
            <option key={seat} value={seat}>
              {there && seat !== position
                ? t`Seat ${seatNumber(seat)}, with ${displayName(there, roster)}`
                : t`Seat ${seatNumber(seat)}`}
            </option>
          );
        })}
      </select>
    </label>
  );
}

/** All agents: in their seats, waiting for one, or retired. */
export function TeamSection() {
  const roster = useHousehold((state) => state.roster);
  const live = useLive((state) => state.live);
  const actions = useActions();
  const change = useChange();
  const seated = [...roster.seats].sort(([a], [b]) => a - b);
  return (
    <>
      <p className="settings-note">{t`Nobody is deleted by retiring: name, soul and conversations stay, and who retired can come back. Who shall be forgotten for good is forgotten on their own page.`}</p>
      <h3>{t`In their seats`}</h3>
      <p className="setting-hint">{t`In the team they change places by drag, or by Alt and an arrow key. A seat keeps its colour and its number.`}</p>
      {seated.length === 0 && <p className="setting-hint">{t`Nobody yet.`}</p>}
      <ul className="team-list">
        {seated.map(([position, agent]) => (
          <Row key={agent.agentId} agent={agent}>
            <SeatOf agent={agent} position={position} />
            <button
              type="button"
              className="ghost"
              disabled={lifecycleOf(agent, position, live) !== 'sleeping'}
              title={lifecycleOf(agent, position, live) === 'sleeping' ? undefined : t`Put to sleep first`}
              onClick={() => {
                // An agent that was put to sleep is still in the session.
                if (live?.awake.has(agent.agentId)) void actions.sleep(agent.agentId);
                void change(agent, [{ kind: 'retire' }], t`${agent.name} is retired. The seat is free.`, [
                  { kind: 'return' },
                ]);
              }}
            >{t`Retire`}</button>
          </Row>
        ))}
      </ul>
      {roster.waiting.length > 0 && (
        <>
          <h3>{t`Waiting for a seat`}</h3>
          <p className="setting-hint">{t`Two were born for one seat, or came to one seat from a copy. The elder sits; the other waits here.`}</p>
          <ul className="team-list">
            {roster.waiting.map((agent) => (
              <Row key={agent.agentId} agent={agent}>
                <GiveSeat agent={agent} />
              </Row>
            ))}
          </ul>
        </>
      )}
      {roster.retired.length > 0 && (
        <>
          <h3>{t`Retired`}</h3>
          <ul className="team-list">
            {roster.retired.map((agent) => (
              <Row key={agent.agentId} agent={agent}>
                <GiveSeat agent={agent} />
              </Row>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

const MEANING: Record<string, string> = {
  name: t`the agent’s name`,
  soul: t`its soul, word for word`,
  transcript: t`its last conversation`,
  human: t`your name`,
  lead: t`the lead’s name`,
  color: t`its colour, as #rrggbb`,
  colorName: t`its colour’s name`,
  seat: t`its seat, 1 to 9`,
};

/** The prompt that one agent would read, with its real context. */
function Preview({ template }: { template: string }) {
  const { wakeSizes } = useRoost();
  const roster = useHousehold((state) => state.roster);
  const settings = useHousehold((state) => state.settings);
  const agents = [...roster.seats.values()];
  const [chosen, setChosen] = useState(agents[0]?.agentId ?? '');
  const [share, setShare] = useState<WakeShare | null>(null);
  const now = useNow();
  const [failed, setFailed] = useState<string | null>(null);
  const agent = roster.byId.get(chosen);
  useEffect(() => {
    if (!agent) return undefined;
    let current = true;
    wakeSizes.read([agent]).then(
      ([read]) => current && setShare(read ?? null),
      (error: unknown) => current && setFailed(errorText(error)),
    );
    return () => {
      current = false;
    };
  }, [wakeSizes, agent]);

  if (agents.length === 0)
    return (
      <p className="settings-note">{t`When there are agents, one can be chosen here to see what it would read.`}</p>
    );
  const payload = share ? payloadOf(share) : null;
  const prompt = payload ? wakePromptOf(payload, wakeAround(roster, settings, now), template) : null;
  return (
    <div className="prompt-preview">
      <label>
        {t`As read by`}{' '}
        <select className="field field-select" value={chosen} onChange={(event) => setChosen(event.target.value)}>
          {agents.map((one) => (
            <option key={one.agentId} value={one.agentId}>
              {displayName(one, roster)}
            </option>
          ))}
        </select>
      </label>
      {failed !== null && <p role="alert">{t`This could not be read: ${failed}`}</p>}
      {/* Scrollable, so that it can be reached by keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre className="prompt-text" tabIndex={0} dir="auto" aria-label={t`Preview`}>
        {prompt === null ? '…' : prompt.ok ? prompt.text : retold(prompt.reason)}
      </pre>
    </div>
  );
}

/** The template of the wake prompt: edited, validated while the person types, and previewed. */
export function PromptSection() {
  const actions = useActions();
  const { notices } = useRoost();
  const held = useHousehold((state) => state.settings.wakeTemplate);
  const current = held === '' ? TEMPLATES.wake : held;
  const [text, setText] = useState(current);
  const [message, setMessage] = useState<string | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const parsed = parseTemplate(text, PLACEHOLDERS.wake);
  const long = text.length > SETTING_TEXT_MAX.wakeTemplate;
  const empty = text.trim() === '';
  const wrong = long
    ? t`This is ${count(text.length)} characters; a template may have ${count(SETTING_TEXT_MAX.wakeTemplate)}.`
    : empty
      ? t`An empty template would say nothing. “Set back to the original” brings the original back.`
      : parsed.ok
        ? null
        : retold(parsed.reason);
  const changed = text !== current;

  const save = async (value: string) => {
    const saved = await actions.saveSetting('wakeTemplate', value);
    if (saved.ok)
      notices.info(value === '' ? t`The original wake prompt is back.` : t`The wake prompt is saved.`, {
        label: t`Undo`,
        run: () => {
          setText(current);
          setMessage(null);
          void actions.saveSetting('wakeTemplate', held);
        },
      });
    setMessage(saved.ok ? t`Saved. It is used from the next session on.` : t`This could not be saved: ${saved.reason}`);
    return saved.ok;
  };
  const insert = (name: string) => {
    const box = field.current;
    if (!box) return;
    const token = `{{${name}}}`;
    const next = `${text.slice(0, box.selectionStart)}${token}${text.slice(box.selectionEnd)}`;
    const caret = box.selectionStart + token.length;
    setText(next);
    setMessage(null);
    requestAnimationFrame(() => {
      box.focus();
      box.setSelectionRange(caret, caret);
    });
  };

  return (
    <>
      <p className="settings-note">{t`The first thing an agent reads when it wakes. Its soul and its last conversation are put in word for word.`}</p>
      <div className="setting">
        <label htmlFor={id}>{t`Template`}</label>
        <textarea
          ref={field}
          id={id}
          className="field prompt-field"
          value={text}
          spellCheck
          aria-invalid={wrong !== null}
          aria-describedby={`${id}-state`}
          onChange={(event) => {
            setText(event.target.value);
            setMessage(null);
          }}
        />
        <p id={`${id}-state`} className="setting-state" role="status" data-wrong={wrong !== null}>
          {wrong ??
            message ??
            (changed ? t`Not saved yet.` : held === '' ? t`This is the original.` : t`Your own template is in use.`)}
        </p>
        <div className="setting-row">
          <button
            type="button"
            className="solid"
            disabled={!changed || wrong !== null}
            onClick={() => void save(text === TEMPLATES.wake ? '' : text)}
          >{t`Save`}</button>
          {changed && (
            <button type="button" className="ghost" onClick={() => setText(current)}>{t`Discard changes`}</button>
          )}
          {(held !== '' || text !== TEMPLATES.wake) && (
            <button
              type="button"
              className="ghost"
              onClick={() => {
                setText(TEMPLATES.wake);
                if (held !== '') void save('');
              }}
            >{t`Set back to the original`}</button>
          )}
        </div>
      </div>
      <h3>{t`Placeholders`}</h3>
      <ul className="placeholders">
        {PLACEHOLDERS.wake.map((name) => (
          <li key={name}>
            <button type="button" className="chip" onClick={() => insert(name)}>
              <code>{`{{${name}}}`}</code>
            </button>
            <span>{MEANING[name]}</span>
          </li>
        ))}
      </ul>
      <p className="setting-hint">
        {t`${<code>{'{{#if soul}} … {{/if}}'}</code>} is left out whole where there is nothing to put in.`}
      </p>
      <h3>{t`Preview`}</h3>
      {wrong === null ? (
        <Preview template={text} />
      ) : (
        <p className="settings-note">{t`The preview is back when the template can be read.`}</p>
      )}
    </>
  );
}

const ChangesSection = lazy(() => import('../changes/changes-section.tsx'));

function content(section: SettingsSection, agentId: AgentId | null): ReactNode {
  switch (section) {
    case 'people':
      return <People />;
    case 'minds':
      return <Minds />;
    case 'waking':
      return <Waking />;
    case 'limits':
      return <LimitsSection key={agentId} agentId={agentId} />;
    case 'prompt':
      return <PromptSection />;
    case 'rehearsal':
      return <RehearsalSection />;
    case 'team':
      return <TeamSection />;
    case 'changes':
      return (
        <Suspense fallback={null}>
          <ChangesSection />
        </Suspense>
      );
    case 'costs':
      return <CostsSection />;
    case 'clients':
      return <ClientsSection />;
    case 'programs':
      return <ProgramsSection />;
    case 'attached':
      return <AttachedSection />;
    case 'devices':
      return <DevicesSection />;
    case 'notifications':
      return <NotificationsSection />;
    case 'storage':
      return <StorageSection />;
    case 'inside':
      return <InsideSection />;
    case 'copies':
      return <CopiesSection />;
    case 'about':
      return <About />;
    default:
      return section satisfies never;
  }
}

/** Scrolls to the setting in the address. Its section may still be loading. */
function useArrival(section: SettingsSection | null): void {
  const name = useLocationProperty(() => location.hash.slice(1));
  useEffect(() => {
    if (name === '' || section === null) return undefined;
    const wanted = decodeURIComponent(name);
    const arrive = () => {
      const found = [...document.querySelectorAll<HTMLElement>('.settings-section :is(h2, h3, label, legend)')].find(
        (each) => each.textContent.trim().startsWith(wanted),
      );
      if (!found) return false;
      found.scrollIntoView?.({ block: 'center' });
      const field = found instanceof HTMLLabelElement ? found.control : null;
      if (!field) found.tabIndex = -1;
      (field ?? found).focus();
      return true;
    };
    if (arrive()) return undefined;
    const arrivals = new MutationObserver(() => {
      if (arrive()) arrivals.disconnect();
    });
    arrivals.observe(document.body, { childList: true, subtree: true });
    return () => arrivals.disconnect();
  }, [section, name]);
}

/** Sections by group or, while the person searches, the matching settings. */
function Sections({ shown, current }: { shown: readonly SettingsSection[]; current: SettingsSection | null }) {
  const [typed, setTyped] = useState('');
  const changed = useChangedSettings(current);
  const hits = settingsNamed(typed).filter(({ section }) => shown.includes(section));
  const list = useId();
  const isList = useMedia(TWO_VIEWS_BELOW);
  return (
    <nav className="settings-nav" aria-label={t`Settings`}>
      <input
        type="search"
        className="field settings-search"
        aria-label={t`Find a setting`}
        aria-controls={list}
        placeholder={t`Find a setting`}
        autoComplete="off"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (keyOf(event) !== 'Escape' || typed === '') return;
          event.stopPropagation();
          setTyped('');
        }}
      />
      <div id={list} className="settings-groups">
        {typed.trim() === '' ? (
          SETTINGS_GROUPS.map((group) => {
            const sections = sectionsIn(group, shown);
            if (sections.length === 0) return null;
            return (
              <div key={group} role="group" aria-label={group} className="settings-group">
                <h2 aria-hidden="true">{group}</h2>
                {sections.map((one) => (
                  <Link
                    key={one}
                    href={PATHS.settings(one)}
                    // The name matches the visible text, which is more on a phone: voice control
                    // users say what they see.
                    aria-labelledby={`${list}-${one}-title ${list}-${one}${isList ? '' : '-changed'}`}
                    aria-describedby={isList ? undefined : `${list}-${one}`}
                    aria-current={one === current ? 'page' : undefined}
                  >
                    <span id={`${list}-${one}-title`}>{SECTIONS[one].title}</span>{' '}
                    <small id={`${list}-${one}`}>
                      {changed.has(one) && <em id={`${list}-${one}-changed`}>{t`${changed.get(one)} changed`} </em>}
                      <span>{SECTIONS[one].about}</span>
                    </small>
                  </Link>
                ))}
              </div>
            );
          })
        ) : hits.length === 0 ? (
          <p className="settings-none" role="status">{t`No setting is called so.`}</p>
        ) : (
          <div role="group" aria-label={t`Found`} className="settings-group">
            {hits.map(({ section, name }) => (
              <Link key={`${section} ${name}`} href={PATHS.settings(section, name)} onClick={() => setTyped('')}>
                <span>{name}</span>
                <small>{SECTIONS[section].title}</small>
              </Link>
            ))}
          </div>
        )}
      </div>
    </nav>
  );
}

/** `section` null: the list on a phone; where there is room, the first section beside it. */
export default function SettingsPage({
  section,
  agentId,
  onClose,
}: {
  section: SettingsSection | null;
  agentId: AgentId | null;
  onClose: () => void;
}) {
  const rehearsing = useRehearsing();
  const sections = SETTINGS_SECTIONS.filter((one) => one !== 'rehearsal' || rehearsing || section === 'rehearsal');
  useArrival(section);
  const shown = section ?? 'people';
  const { title } = SECTIONS[shown];
  return (
    <div className="settings" data-at={section === null ? 'list' : 'section'}>
      <PageHead
        title={t`Settings`}
        pageTitle={section === null ? t`Settings` : t`${title} · Settings`}
        onClose={onClose}
      />
      <Link className="ghost settings-back" href={PATHS.settings()}>
        <BackIcon /> {t`All settings`}
      </Link>
      <Sections shown={sections} current={shown} />
      <section className="settings-section" key={shown} aria-labelledby="settings-title">
        <h2 id="settings-title">{title}</h2>
        {content(shown, agentId)}
      </section>
    </div>
  );
}
