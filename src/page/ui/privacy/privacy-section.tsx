/** Settings section: forgets a span of time, lists what was forgotten, and finds a sentence. */
import { type FormEvent, useId, useState } from 'react';
import { type ForgetTarget, MOST_SOURCES } from '../../../shared/domain/forgetting.ts';
import type { ForgetDoc } from '../../../shared/protocol/documents.ts';
import { errorText } from '../../state/ports.ts';
import { LIMITS } from '../../../shared/protocol/limits.ts';
import { t } from '../../language/t.ts';
import { type AskedItems, findSentence, previewItems, type SentenceFound } from '../../state/forgets.ts';
import { ForgetPreviewList, Preview } from '../agent/forget-preview.tsx';
import { useActions, useHousehold, useRoost } from '../context.tsx';
import { SureDialog } from '../design/dialog.tsx';
import { Field, SelectField, TextField, WrongNote } from '../design/field.tsx';
import { useAction } from '../design/use-action.ts';
import { fullTime } from '../text/time.ts';
import { asBeginning, plural } from '../text/sizes.ts';
import { useNames, useTeammates } from '../use-somebody.ts';

type Span = Extract<ForgetTarget, { kind: 'span' }>;

function SpanForm() {
  const team = useTeammates();
  const actions = useActions();
  const [agentId, setAgentId] = useState('');
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const [askedSpan, setAskedSpan] = useState<Span | null>(null);
  const [start, end] = [new Date(from).getTime(), new Date(to).getTime()];
  const isSpan = start < end;
  function submit(event: FormEvent) {
    event.preventDefault();
    if (isSpan) setAskedSpan({ kind: 'span', agentId: agentId === '' ? null : agentId, from: start, to: end });
  }
  async function forget(target: Span): Promise<string | null> {
    const done = await actions.forget(target, t`Forgetting…`);
    return done.ok ? null : done.reason;
  }
  return (
    <section className="gap-4 stack" aria-label={t`Forget a span of time`}>
      <h3>{t`Forget a span of time`}</h3>
      <p>{t`Messages of that time, with their summaries and notes. Awake agents may know them until they sleep.`}</p>
      <form className="gap-4 stack" onSubmit={submit}>
        <SelectField
          label={t`With`}
          choices={[['', t`Everybody`], ...team.all.map((each) => [each.agentId, each.name] as const)]}
          value={agentId}
          onChange={setAgentId}
        />
        <TextField label={t`From`} type="datetime-local" short value={from} onText={setFrom} />
        <TextField label={t`Until`} type="datetime-local" short value={to} onText={setTo} />
        <p>
          <button type="submit" className="ghost" disabled={!isSpan}>{t`Show what will be forgotten…`}</button>
        </p>
      </form>
      {askedSpan && (
        <SureDialog
          title={t`Forget all of this?`}
          does={t`Forget`}
          onSure={() => forget(askedSpan)}
          onClose={() => setAskedSpan(null)}
        >
          <ForgetPreviewList target={askedSpan} />
          <p>{t`You can undo it for ten seconds. After that nothing brings it back.`}</p>
        </SureDialog>
      )}
    </section>
  );
}

type What = 'words' | 'tool';
function ItemsForm() {
  const state = useRoost();
  const actions = useActions();
  const [kind, setKind] = useState<What>('words');
  const [text, setText] = useState('');
  const [askedItems, setAskedItems] = useState<AskedItems | null>(null);
  const { busy, failed, act } = useAction();
  async function search(): Promise<string | null> {
    const preview = await previewItems(state, { what: kind, text: text.trim() });
    const many = preview.target.sources.length;
    if (preview.preview.unread !== null) return t`The search failed. ${preview.preview.unread}`;
    if (many === 0) return t`Nothing found.`;
    if (many > MOST_SOURCES) return t`${plural(many, 'place')}, too many for one request. Choose fewer.`;
    setAskedItems(preview);
    return null;
  }
  const submit = (event: FormEvent) => {
    event.preventDefault();
    act(() => search().catch(errorText));
  };
  async function forget(target: AskedItems['target']): Promise<string | null> {
    const done = await actions.forget(target, t`Forgetting…`);
    return done.ok ? null : done.reason;
  }
  return (
    <section className="gap-4 stack" aria-label={t`Forget a person, a page or a tool’s answers`}>
      <h3>{t`Forget a person, a page or a tool’s answers`}</h3>
      <p>{t`Messages with these words, with their summaries and notes. Threads, tasks, files and souls stay.`}</p>
      <form className="gap-4 stack" onSubmit={submit}>
        <SelectField
          label={t`Forget`}
          choices={[
            ['words', t`what has these words`],
            ['tool', t`answers of this tool`],
          ]}
          value={kind}
          onChange={setKind}
        />
        <Field label={kind === 'tool' ? t`Name of the tool` : t`A name, or the address of a page`}>
          {(given) => (
            <input
              {...given}
              className="field"
              dir="auto"
              minLength={LIMITS.sentence}
              maxLength={LIMITS.searchText}
              required
              value={text}
              onChange={({ target }) => setText(target.value)}
            />
          )}
        </Field>
        <p>
          <button type="submit" className="ghost" disabled={busy}>{t`Show what will be forgotten…`}</button>
        </p>
      </form>
      <WrongNote text={failed} />
      {askedItems && (
        <SureDialog
          title={t`Forget all of this?`}
          does={t`Forget`}
          onSure={() => forget(askedItems.target)}
          onClose={() => setAskedItems(null)}
        >
          <Preview preview={askedItems.preview} />
          <p>{t`You can undo it for ten seconds. After that nothing brings it back.`}</p>
        </SureDialog>
      )}
    </section>
  );
}

function targetText(target: ForgetDoc['target'], nameOf: (id: string) => string): string {
  switch (target.kind) {
    case 'agent':
      return t`An agent`;
    case 'conversation':
      return t`Conversation with ${nameOf(target.agentId)}`;
    case 'items': {
      const many = plural(target.sources.length, 'place');
      return target.what === 'tool' ? t`Answers of a tool, in ${many}` : t`A person or a page, in ${many}`;
    }
    case 'span': {
      const span = t`${fullTime(target.from)} to ${fullTime(target.to)}`;
      return target.agentId === null ? t`With everybody: ${span}` : t`With ${nameOf(target.agentId)}: ${span}`;
    }
    default:
      return target satisfies never;
  }
}

function Forgotten() {
  const final = useHousehold((state) => state.forgets);
  const nameOf = useNames();
  const sorted = [...final].sort((a, b) => (a.at < b.at ? 1 : -1));
  return (
    <section className="gap-4 stack" aria-label={t`What was forgotten`}>
      <h3>{t`What was forgotten`}</h3>
      {sorted.length === 0 ? (
        <p>{asBeginning(t`nothing`)}</p>
      ) : (
        <ul>
          {sorted.map(({ _id, target, finalAt }) => (
            <li key={_id}>
              <b>{targetText(target, nameOf)}</b> <small>{fullTime(finalAt)}</small>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Places({ here, relay, problem }: SentenceFound) {
  const nameOf = useNames();
  const kinds = Object.entries(here.documents).map(([kind, count]) => t`This browser, ${kind}: ${count}`);
  const lines = [
    ...kinds,
    ...(here.volumes > 0 ? [t`This browser, stored volumes: ${here.volumes}`] : []),
    ...(here.entries > 0 ? [t`Sealed entries, here and at the relay: ${here.entries}`] : []),
    ...(here.found > 0 ? [t`This browser, search: ${here.found}`] : []),
    ...(relay?.places ?? []).map((place) => {
      switch (place.kind) {
        case 'table':
          return t`The relay’s store, ${place.table}: ${place.rows}`;
        case 'snapshot':
          return t`The relay’s snapshot of ${nameOf(place.agentId)}`;
        case 'file':
          return t`The folder of ${nameOf(place.agentId)}: ${place.path}`;
        default:
          return place satisfies never;
      }
    }),
  ];
  return (
    <>
      {lines.length === 0 ? (
        <p role="status">{t`Nothing found.`}</p>
      ) : (
        <ul aria-label={t`Results`}>
          {lines.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
      {relay !== null && relay.unread > 0 && <p>{t`${plural(relay.unread, 'file')} could not be searched`}</p>}
      {problem !== null && <p role="alert">{t`The relay was not searched: ${problem}`}</p>}
    </>
  );
}

function Sentence() {
  const state = useRoost();
  const [text, setText] = useState('');
  const id = useId();
  const [found, setFound] = useState<SentenceFound | null>(null);
  const { busy, failed, act } = useAction();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    act(async () => {
      const result = await findSentence(state, text.trim());
      setFound(result.ok ? result.value : null);
      return result;
    });
  };
  return (
    <section className="gap-4 stack" aria-labelledby={id}>
      <h3 id={id}>{t`Search everything for a sentence`}</h3>
      <p>{t`Searches this browser and the relay, but not file histories and exports.`}</p>
      <form className="gap-4 stack" onSubmit={submit}>
        <input
          className="field"
          aria-labelledby={id}
          dir="auto"
          minLength={LIMITS.sentence}
          maxLength={LIMITS.searchText}
          required
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <p>
          <button type="submit" className="ghost" disabled={busy}>
            {busy ? t`Loading…` : t`Find`}
          </button>
        </p>
      </form>
      {found && <Places {...found} />}
      <WrongNote text={failed} />
    </section>
  );
}

export default function PrivacySection() {
  return (
    <div className="gap-6 stack">
      <SpanForm />
      <ItemsForm />
      <Forgotten />
      <Sentence />
    </div>
  );
}
