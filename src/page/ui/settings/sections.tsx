/**
 * Settings sections of plain fields: people, minds, waking, about. Each field is saved on change
 * and can be undone.
 */
import { type FocusEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Link } from 'wouter';
import { seatNumber } from '../../../shared/domain/seat.ts';
import type { Rehearsal } from '../../../shared/protocol/http.ts';
import {
  DEFAULT_SETTINGS,
  isSettingValue,
  SETTING_BOUNDS,
  type SettingKey,
  type Settings,
} from '../../../shared/domain/settings.ts';
import { chosenLanguage, spoken, t } from '../../language/t.ts';
import { problemText } from '../../state/ports.ts';
import { chooseLanguage, LANGUAGES } from '../../language/fetch-texts.ts';
import { useActions, useDevices, useHousehold, useInfo, useLive, useRoost } from '../context.tsx';
import { POSITIONS } from '../grid/seat-figure.tsx';
import { count } from '../text/sizes.ts';
import { useLeaving, useQuery } from '../hooks.ts';
import { keyOf } from '../design/keys.ts';
import { ModelSelect } from '../models/model-select.tsx';
import { modelName } from '../models/chip.tsx';
import { SelectSetting } from '../parts/choices.tsx';
import { PATHS } from '../routes.ts';

type SeatList = 'fail' | 'silent' | 'cut' | 'nameless' | 'sameName';
const COLUMNS: readonly { readonly key: SeatList; readonly title: string }[] = [
  { key: 'fail', title: t`Fails` },
  { key: 'silent', title: t`Stays silent` },
  { key: 'cut', title: t`Is cut off` },
  { key: 'nameless', title: t`Finds no name` },
  { key: 'sameName', title: t`Same name` },
];

type Loaded =
  | { readonly kind: 'loading' }
  | { readonly kind: 'none' }
  | { readonly kind: 'failed'; readonly text: string }
  | { readonly kind: 'ready'; readonly rehearsal: Rehearsal };

/** Makes the demo mind misbehave, to try out how Roost handles that. */
export function RehearsalSection() {
  const { relay, notices } = useRoost();
  const [loaded, setLoaded] = useState<Loaded>({ kind: 'loading' });
  useEffect(() => {
    let current = true;
    void relay.getRehearsal().then((got) => {
      if (!current) return;
      if (got.ok) setLoaded({ kind: 'ready', rehearsal: got.value });
      else if (got.problem.kind === 'refused' && got.problem.status === 404) setLoaded({ kind: 'none' });
      else setLoaded({ kind: 'failed', text: problemText(got.problem) });
    });
    return () => {
      current = false;
    };
  }, [relay]);

  if (loaded.kind === 'loading') return <p className="settings-note">{t`Asking the relay…`}</p>;
  if (loaded.kind === 'none')
    return (
      <p className="settings-note">{t`A model is connected: there is nothing to try here. Failures can be tried in demo mode.`}</p>
    );
  if (loaded.kind === 'failed')
    return (
      <p className="settings-note" role="alert">
        {loaded.text}
      </p>
    );

  const { rehearsal } = loaded;
  const change = async (part: Partial<Rehearsal>) => {
    const put = await relay.putRehearsal({ body: { ...rehearsal, ...part } });
    if (put.ok) setLoaded({ kind: 'ready', rehearsal: put.value });
    else notices.refused(put.problem);
  };
  const toggle = (key: SeatList, position: number) => {
    const held = rehearsal[key];
    void change({
      [key]: held.includes(position) ? held.filter((seat) => seat !== position) : [...held, position].sort(),
    });
  };
  const number = (key: 'delayMs' | 'wordMs' | 'seed', label: string, max: number) => (
    <label className="rehearsal-number">
      {label}
      <input
        key={rehearsal[key]}
        className="field field-number"
        inputMode="numeric"
        defaultValue={rehearsal[key]}
        onBlur={(event) => {
          const value = Number(event.target.value);
          if (Number.isInteger(value) && value >= 0 && value <= max && value !== rehearsal[key])
            void change({ [key]: value });
          else event.target.value = String(rehearsal[key]);
        }}
      />
    </label>
  );

  return (
    <>
      <p className="settings-note">{t`Demo mode: no model is connected, and a small stand-in plays all the parts. Tell it to misbehave, and see what becomes of a wake. It holds at once, until the relay is started again.`}</p>
      {/* Scrollable on narrow screens, so that it can be reached by keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className="rehearsal-table" role="region" aria-label={t`What each seat does`} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t`Seat`}</th>
              {COLUMNS.map((column) => (
                <th key={column.key} scope="col">
                  {column.title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {POSITIONS.map((position) => (
              <tr key={position}>
                <th scope="row">{position === 4 ? t`5, the lead` : seatNumber(position)}</th>
                {COLUMNS.map(({ key, title }) => (
                  <td key={key}>
                    <label className="tick">
                      <input
                        type="checkbox"
                        checked={rehearsal[key].includes(position)}
                        onChange={() => toggle(key, position)}
                      />
                      <span className="visually-hidden">{t`Seat ${seatNumber(position)}: ${title}`}</span>
                    </label>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <label className="tick-line">
        <input
          type="checkbox"
          checked={rehearsal.leadIgnores}
          onChange={() => void change({ leadIgnores: !rehearsal.leadIgnores })}
        />
        {t`The lead does not call the team`}
      </label>
      <div className="rehearsal-numbers">
        {number('delayMs', t`Before the first word, ms`, 600_000)}
        {number('wordMs', t`Between words, ms`, 10_000)}
        {number('seed', t`Seed`, Number.MAX_SAFE_INTEGER)}
      </div>
    </>
  );
}

interface FrameProps {
  readonly label: string;
  readonly hint: ReactNode;
  readonly text: string;
  readonly onText: (text: string) => void;
  /** The error of the text, or null. */
  readonly wrong: string | null;
  readonly changed: boolean;
  readonly onSave: () => Promise<{ ok: true } | { ok: false; reason: string }>;
  readonly onDrop: () => void;
  readonly onUndo: (() => Promise<unknown>) | null;
  /** The default in words, and how to restore it; null: the default holds. */
  readonly standard: { readonly text: string; readonly back: () => Promise<unknown> } | null;
  readonly unit?: string;
  readonly placeholder?: string;
  readonly numeric: boolean;
}

/** One setting. It shows errors while the person types, and "saved" only once it is. */
function FieldFrame({
  label,
  hint,
  text,
  onText,
  wrong,
  changed,
  onSave,
  onDrop,
  onUndo,
  standard,
  unit,
  placeholder,
  numeric,
}: FrameProps) {
  const id = useId();
  const [state, setState] = useState<'idle' | 'saving' | 'saved'>('idle');
  const [failed, setFailed] = useState<string | null>(null);
  const save = async () => {
    if (!changed || wrong !== null) return;
    setState('saving');
    const saved = await onSave();
    setFailed(saved.ok ? null : saved.reason);
    setState(saved.ok ? 'saved' : 'idle');
  };
  const problem = wrong ?? (failed === null ? null : t`This could not be saved: ${failed}`);
  return (
    <form
      className="setting"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
      // Moving the focus elsewhere confirms the value.
      onBlur={({ currentTarget, relatedTarget }: FocusEvent) => {
        if (!currentTarget.contains(relatedTarget)) void save();
      }}
    >
      <label htmlFor={id}>{label}</label>
      <div className="setting-row">
        <input
          id={id}
          className={numeric ? 'field field-number' : 'field'}
          value={text}
          dir={numeric ? undefined : 'auto'}
          inputMode={numeric ? 'decimal' : undefined}
          placeholder={placeholder}
          autoComplete="off"
          aria-invalid={problem !== null}
          aria-describedby={`${id}-hint ${id}-state`}
          onChange={(event) => {
            onText(event.target.value);
            setState('idle');
          }}
          onKeyDown={(event) => {
            if (keyOf(event) !== 'Escape' || !changed) return;
            event.stopPropagation();
            onDrop();
          }}
        />
        {unit && <span className="setting-unit">{unit}</span>}
        {changed && (
          <button type="submit" className="solid" disabled={wrong !== null || state === 'saving'}>
            {state === 'saving' ? t`Saving…` : t`Save`}
          </button>
        )}
      </div>
      <p id={`${id}-hint`} className="setting-hint">
        {hint}
      </p>
      {standard && !changed && (
        <p className="setting-from">
          {t`Changed; the default is ${standard.text}.`}
          <button
            type="button"
            className="link-button"
            onClick={() => void standard.back().then(() => setState('saved'))}
          >{t`Set back`}</button>
        </p>
      )}
      <p id={`${id}-state`} className="setting-state" role="status" data-wrong={problem !== null}>
        {(problem ?? (state === 'saved' && !changed)) && <span>{problem ?? t`Saved.`}</span>}
        {state === 'saved' && !changed && onUndo && (
          <button
            type="button"
            className="link-button"
            onClick={() => void onUndo().then(() => setState('idle'))}
          >{t`Undo`}</button>
        )}
      </p>
    </form>
  );
}

interface Form<K extends SettingKey> {
  readonly toText: (value: Settings[K]) => string;
  /** null: not a valid value. */
  readonly toValue: (text: string) => Settings[K] | null;
  readonly wrong: string;
}

interface Props<K extends SettingKey> extends Form<K> {
  readonly setting: K;
  readonly label: string;
  readonly hint: ReactNode;
  readonly unit?: string;
  readonly placeholder?: string;
  readonly numeric?: boolean;
  /** The default in words; null: there is no default. */
  readonly standard: string | null;
}

/** ms after saving within which leaving the page still offers an undo. */
const JUST_NOW = 3_000;

function SettingField<K extends SettingKey>({
  setting,
  toText,
  toValue,
  wrong,
  label,
  hint,
  unit,
  placeholder,
  numeric = false,
  standard,
}: Props<K>) {
  const actions = useActions();
  const held = useHousehold((state) => state.settings[setting]);
  // null: the saved value, which another tab may change.
  const [draft, setDraft] = useState<string | null>(null);
  const [before, setBefore] = useState<Settings[K] | null>(null);
  const text = draft ?? toText(held);
  const value = toValue(text);
  const changed = draft !== null && draft !== toText(held);
  const { device, notices } = useRoost();
  const saving = useRef(false);
  const saved = useRef<{ readonly at: number; readonly before: Settings[K] } | null>(null);
  const store = async (next: Settings[K]) => {
    saving.current = true;
    const done = await actions.saveSetting(setting, next);
    saving.current = false;
    saved.current = done.ok ? { at: device.now(), before: held } : null;
    if (done.ok) setDraft(null);
    return done;
  };
  // Leaving the page in the middle of a change saves it, and offers an undo.
  const leave = useRef<() => void>(() => undefined);
  useEffect(() => {
    leave.current = () => {
      const offer = (before: Settings[K]) =>
        notices.info(t`${label} is saved.`, { label: t`Undo`, run: () => void actions.saveSetting(setting, before) });
      // It was saved when the field lost the focus, and the undo would disappear with the page.
      if (saved.current && device.now() - saved.current.at < JUST_NOW) return offer(saved.current.before);
      if (saving.current) return offer(held);
      if (!changed) return;
      if (value === null) return notices.info(t`${label} was not changed. ${wrong}`);
      void actions
        .saveSetting(setting, value)
        .then((done) => (done.ok ? offer(held) : notices.error(t`${label} could not be saved: ${done.reason}`)));
    };
  });
  useEffect(() => () => leave.current(), []);
  useLeaving(() => leave.current());
  return (
    <FieldFrame
      {...{ label, hint, text, changed, numeric }}
      {...(unit === undefined ? {} : { unit })}
      {...(placeholder === undefined ? {} : { placeholder })}
      wrong={changed && value === null ? wrong : null}
      onText={setDraft}
      onDrop={() => setDraft(null)}
      onSave={async () => {
        if (value === null) return { ok: false, reason: wrong };
        setBefore(held);
        return store(value);
      }}
      onUndo={before === null ? null : () => store(before).then(() => (saved.current = null))}
      standard={
        standard === null || held === DEFAULT_SETTINGS[setting]
          ? null
          : {
              text: standard,
              back: () => {
                setBefore(held);
                return store(DEFAULT_SETTINGS[setting]);
              },
            }
      }
    />
  );
}

type TextKey = 'humanName' | 'leadName';

function TextSetting({ setting, ...rest }: { setting: TextKey; label: string; hint: ReactNode }) {
  return (
    <SettingField
      {...rest}
      setting={setting}
      standard={null}
      toText={(value) => value}
      toValue={(text) => (isSettingValue(setting, text.trim()) && text.trim() !== '' ? text.trim() : null)}
      wrong={t`It needs a name, of at most 80 characters.`}
    />
  );
}

type NumberKey = 'maxAnswerTokens' | 'contextTokens' | 'transcriptCap' | 'wakeTimeoutMs' | 'birthTimeoutMs' | 'idleMs';

interface NumberProps {
  readonly setting: NumberKey;
  readonly label: string;
  readonly hint: ReactNode;
  readonly unit: string;
  /** Stored units per displayed unit: 1000 for seconds of milliseconds. */
  readonly per: number;
  readonly min: number;
  readonly max: number;
  /** Describes the default where a number is not enough. */
  readonly standard?: string;
}

function NumberSetting({ setting, per, min, max, unit, standard, ...rest }: NumberProps) {
  return (
    <SettingField
      {...rest}
      setting={setting}
      unit={unit}
      numeric
      standard={standard ?? `${count(DEFAULT_SETTINGS[setting] / per)} ${unit}`}
      toText={(value) => String(value / per)}
      toValue={(text) => {
        const value = text.trim() === '' ? Number.NaN : Math.round(Number(text.replace(',', '.')) * per);
        return isSettingValue(setting, value) ? value : null;
      }}
      wrong={t`Give a number from ${min / per} to ${max / per} ${unit}.`}
    />
  );
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Settings that a session receives when it starts. */
function NextSession() {
  const running = useLive((state) => state.live !== null);
  return running ? (
    <p className="settings-note">{t`A session is running. What you change here holds from the next one on.`}</p>
  ) : null;
}

/** The language of the page, stored in this browser: another device may belong to someone else. */
function LanguageSetting() {
  const chosen = chosenLanguage();
  const now = LANGUAGES[spoken.language]?.name ?? spoken.language;
  return (
    <SelectSetting
      label={t`Language`}
      hint={t`Of this page, on this device. Your agents answer in the language that you write to them.`}
      chosen={chosen}
      fallback={chosen === null ? t`As the browser: ${now}` : t`As the browser`}
      options={Object.entries(LANGUAGES).map(([code, { name }]) => ({ value: code, name, lang: code }))}
      onChoose={chooseLanguage}
    />
  );
}

export function People() {
  return (
    <>
      <NextSession />
      <TextSetting setting="humanName" label={t`Your name`} hint={t`What the agents call you.`} />
      <TextSetting setting="leadName" label={t`Lead's name`} hint={t`Who sits in the middle and calls the others.`} />
      <LanguageSetting />
    </>
  );
}

type ModelKey = 'leadModel' | 'agentModel';

/** The answering model. Saved on change; one press undoes it. */
function ModelSetting({
  setting,
  label,
  hint,
  standard,
  standardModel,
}: {
  setting: ModelKey;
  label: string;
  hint: ReactNode;
  standard: string;
  standardModel: string | undefined;
}) {
  const actions = useActions();
  const held = useHousehold((state) => state.settings[setting]);
  const [before, setBefore] = useState<string | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const save = async (value: string, back: string | null) => {
    const saved = await actions.saveSetting(setting, value);
    setFailed(saved.ok ? null : saved.reason);
    setBefore(saved.ok ? back : null);
  };
  return (
    <div className="setting">
      <ModelSelect
        label={label}
        hint={hint}
        value={held}
        standard={standard}
        standardModel={standardModel}
        wrong={failed === null ? null : t`This could not be saved: ${failed}`}
        onChange={(value) => void save(value, held)}
      />
      <p className="setting-state" role="status">
        {before !== null && (
          <>
            {t`Saved.`}
            <button type="button" className="link-button" onClick={() => void save(before, null)}>{t`Undo`}</button>
          </>
        )}
      </p>
    </div>
  );
}

export function Minds() {
  const health = useInfo((state) => state.health);
  const { models } = useRoost();
  const listed = useQuery(models.query);
  const [first] = listed.kind === 'ready' ? listed.value.connections : [];
  const standard = (own: string | undefined) =>
    own === undefined || health?.mind === 'rehearsal' ? t`Default` : t`Default: ${modelName(own, first?.models)}`;
  return (
    <>
      <NextSession />
      <p className="settings-note">
        {health?.mind === 'rehearsal' && (
          <span>{t`Demo mode: no model is connected, so nothing set here is used yet. `}</span>
        )}
        <Link href={PATHS.connect}>{first ? t`What is connected` : t`Connect a model`}</Link>
      </p>
      <ModelSetting
        setting="leadModel"
        label={t`Model of the lead`}
        hint={t`It calls the others, and answers what you ask everybody.`}
        standard={standard(first?.leadModel)}
        standardModel={first?.leadModel}
      />
      <ModelSetting
        setting="agentModel"
        label={t`Model of the agents`}
        hint={t`Of all who have none of their own; an agent’s own is chosen on its page.`}
        standard={standard(first?.agentModel)}
        standardModel={first?.agentModel}
      />
      <NumberSetting
        setting="maxAnswerTokens"
        label={t`Longest answer`}
        hint={t`An answer is cut off where it reaches this. A token is about four characters.`}
        unit={t`tokens`}
        per={1}
        {...SETTING_BOUNDS.maxAnswerTokens}
      />
      <NumberSetting
        setting="contextTokens"
        label={t`What the models read`}
        hint={t`Conversation and answer together. Where a conversation is longer, its oldest part is not given to the model. 0: as the model says itself; a local server that cuts without a word needs its figure here.`}
        unit={t`tokens`}
        per={1}
        standard={t`as the model says itself`}
        {...SETTING_BOUNDS.contextTokens}
      />
    </>
  );
}

export function Waking() {
  return (
    <>
      <NextSession />
      <NumberSetting
        setting="transcriptCap"
        label={t`What is remembered of the last conversation`}
        hint={t`For each agent; the newest messages are kept, whole. More remembers further back, and costs more at every wake.`}
        unit={t`characters`}
        per={1}
        {...SETTING_BOUNDS.transcriptCap}
      />
      <NumberSetting
        setting="wakeTimeoutMs"
        label={t`Time to wake`}
        hint={t`Who says nothing for this long is sleeping again; WAKE is back for them.`}
        unit={t`seconds`}
        per={SECOND}
        {...SETTING_BOUNDS.wakeTimeoutMs}
      />
      <NumberSetting
        setting="birthTimeoutMs"
        label={t`Time to find a name`}
        hint={t`An egg without a name after this is an empty seat again.`}
        unit={t`minutes`}
        per={MINUTE}
        {...SETTING_BOUNDS.birthTimeoutMs}
      />
      <NumberSetting
        setting="idleMs"
        label={t`Quiet before everyone sleeps`}
        hint={t`A session in which nothing is said for this long ends by itself.`}
        unit={t`minutes`}
        per={MINUTE}
        {...SETTING_BOUNDS.idleMs}
      />
    </>
  );
}

/** As the table in docs/privacy.md, which also says how long. */
const RELAY_SEES: readonly string[] = [
  t`While a session runs: souls, conversations and what you send along, in memory. What is said stands on its disk too, until a browser has stored it and a day has passed.`,
  t`The files in your agents’ folders, as they are.`,
  t`What agents did with their tools, and what they asked you: the beginning of what went in and came out, for 90 days.`,
  t`A snapshot of each agent with a routine, reminder or script: soul and last conversation, sealed with a key that lies on the relay.`,
  t`Routines, reminders and scripts with the texts that you accepted, when each was due, and the agent’s last words then.`,
  t`Messages that wait for agents, and threads with all that was said in them.`,
  t`Names and seats of your agents, who asked to wake whom, limits and budgets, and what requests cost.`,
  t`Model keys and MCP servers that you connected, sealed with the same key; of credentials and sign-ins only a hash.`,
  t`Which devices you have, when and from where they connect, and how much they write. What they keep there is sealed, and the relay has no key to it.`,
];

export function About() {
  const health = useInfo((state) => state.health);
  const shared = useDevices(({ status }) => status?.kind === 'shared');
  return (
    <div className="settings-prose">
      <p>{t`Roost ${health ? health.version : ''} is a local-first home for a team of agents that remember who they are.`}</p>
      <h3>{t`What stays here`}</h3>
      <p>{t`Who your agents are, their souls, every conversation and these settings: in this browser, on this device${shared ? t`, and on your other devices` : ''}. Unless you switch it off under Devices, the relay keeps all of it sealed, and has no key. Clearing the browser’s data for this address clears them here too.`}</p>
      <h3>{t`What the relay sees`}</h3>
      <p>{t`Whoever runs the relay can read this on it, apart from what is sealed:`}</p>
      <ul>
        {RELAY_SEES.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <h3>{t`What the model sees`}</h3>
      <p>
        {health?.mind === 'anthropic'
          ? t`Everything that is said to your agents, their souls and what they remember go to the model you connected (${health.model}).`
          : t`Nothing: no model is connected. The demo that answers is part of the relay, and sends nothing anywhere.`}
      </p>
    </div>
  );
}
