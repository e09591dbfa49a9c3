/** The page for moving in: files, a preview with counts, whose past it becomes, and the outcome. */
import { useId, useState } from 'react';
import { Link } from 'wouter';
import { useStore } from 'zustand';
import { displayName, emptySeats } from '../../../shared/domain/agent.ts';
import type { AgentId, SessionId } from '../../../shared/domain/ids.ts';
import { checkName, shownText } from '../../../shared/domain/names.ts';
import { retold, t } from '../../language/t.ts';
import {
  type ChosenFile,
  type ConversationSummary,
  type KeptFiles,
  type MovedIn,
  moveInOf,
  type MoveInPreview,
  type MoveInTarget,
} from '../../state/move-in.ts';
import { useHousehold, useRoost } from '../context.tsx';
import { AgentOptions } from '../parts/choices.tsx';
import { DropZone, type DroppedFile } from '../design/drop-zone.tsx';
import { ImportExam } from '../exams/exams.tsx';
import { Field, TextField } from '../design/field.tsx';
import { Work } from './adopt-flow.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { readDraft, storeDraft } from '../chat/drafts.ts';
import { useWakeCosts } from '../preview/use-wake-cost.ts';
import { PATHS, useRoute } from '../routes.ts';
import { money, tokens } from '../text/money.ts';
import { asBeginning, plural } from '../text/sizes.ts';
import { dayAndClock } from '../text/time.ts';
import { useNow } from '../hooks.ts';
import './exports.css';

const chosen = ({ file, path }: DroppedFile): ChosenFile => ({ file, path, modifiedAt: file.lastModified });

/** Rows of the list. More are found by their titles. */
const ROWS = 100;

function Conversations({
  all,
  leftOut,
  onLeaveOut,
}: {
  all: readonly ConversationSummary[];
  leftOut: ReadonlySet<SessionId>;
  onLeaveOut: (leftOut: ReadonlySet<SessionId>) => void;
}) {
  const now = useNow();
  const [typed, setTyped] = useState('');
  const query = typed.trim().toLocaleLowerCase();
  const shown = query === '' ? all : all.filter(({ title }) => title.toLocaleLowerCase().includes(query));
  const choose = (some: readonly ConversationSummary[], taken: boolean) => {
    const next = new Set(leftOut);
    for (const { sessionId } of some) {
      if (taken) next.delete(sessionId);
      else next.add(sessionId);
    }
    onLeaveOut(next);
  };
  return (
    <fieldset className="full">
      <legend className="no-pad under-4 ink bold">
        {plural(all.length - leftOut.size, 'conversation', 'conversations')}
      </legend>
      <div className="gap-4 cluster">
        <input
          type="search"
          aria-label={t`Find by title`}
          className="field"
          placeholder={t`Find by title`}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
        <button type="button" className="link-button" onClick={() => choose(shown, true)}>{t`All`}</button>
        <button type="button" className="link-button" onClick={() => choose(shown, false)}>
          {asBeginning(t`none`)}
        </button>
      </div>
      <ul className="stack gap-3">
        {shown.slice(0, ROWS).map((one) => (
          <li key={one.sessionId}>
            <label className="tick-line">
              <input
                type="checkbox"
                checked={!leftOut.has(one.sessionId)}
                onChange={({ target }) => choose([one], target.checked)}
              />
              <span dir="auto">
                {one.isBranch ? t`Branch of ${shownText(one.title)}` : shownText(one.title) || t`Untitled`}
                <small>{` · ${dayAndClock(one.time, now)} · ${plural(one.messages, 'message')}`}</small>
              </span>
            </label>
          </li>
        ))}
      </ul>
      {shown.length > ROWS && <p className="setting-hint">{plural(shown.length - ROWS, 'more', 'more')}</p>}
    </fieldset>
  );
}

function NotTaken({ notTaken }: Pick<MoveInPreview, 'notTaken'>) {
  if (notTaken.length === 0) return null;
  return (
    <section aria-label={t`Left out`}>
      <h3>{t`Left out`}</h3>
      <ul className="stack gap-3">
        {notTaken.map(({ reason, count, examples }) => (
          <li key={reason}>
            <span>{t`${count}: ${retold(reason)}`}</span>
            {examples.length > 0 && <small dir="auto">{` (${examples.map(shownText).join(', ')})`}</small>}
          </li>
        ))}
      </ul>
    </section>
  );
}

const NEW = 'new';

function Preview({
  preview,
  onTake,
  onCancel,
}: {
  preview: MoveInPreview;
  onTake: (target: MoveInTarget, sessionIds: readonly SessionId[], withFiles: boolean) => void;
  onCancel: () => void;
}) {
  const { conversations, files, soul, notTaken } = preview;
  const { device } = useRoost();
  const roster = useHousehold((state) => state.roster);
  const humanName = useHousehold((state) => state.settings.humanName);
  const agents = [...roster.byId.values()].filter(({ retired }) => !retired);
  const [seat] = emptySeats(roster);
  const [leftOut, setLeftOut] = useState<ReadonlySet<SessionId>>(new Set());
  const [who, setWho] = useState<string>(seat === undefined ? (agents[0]?.agentId ?? '') : NEW);
  const [name, setName] = useState(soul?.name ?? '');
  const [words, setWords] = useState(
    soul?.text ?? t`I talked with this person before I came here. Those conversations are part of my past.`,
  );
  const [withFiles, setWithFiles] = useState(true);
  const [newId] = useState(() => device.newId());
  const checked = checkName(name, 'agent', humanName);
  const isNew = who === NEW;
  const existing = agents.find(({ agentId }) => agentId === who);
  const fault = !isNew || checked.ok ? null : name.trim() === '' ? t`It needs a name.` : retold(checked.reason);
  const chosen = conversations.filter(({ sessionId }) => !leftOut.has(sessionId));
  const messages = chosen.reduce((sum, one) => sum + one.messages, 0);
  const target: MoveInTarget | null = !isNew
    ? { kind: 'existing', agentId: who as AgentId }
    : checked.ok && seat !== undefined && words.trim() !== ''
      ? { kind: 'new', agentId: newId as AgentId, name: checked.name, position: seat, soul: words }
      : null;
  const nothing = chosen.length === 0 && !(withFiles && files.length > 0) && (soul === null || !isNew);
  return (
    <form
      className="stack at-start narrow gap-5"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (target !== null && !nothing)
          onTake(
            target,
            chosen.map(({ sessionId }) => sessionId),
            withFiles,
          );
      }}
    >
      {conversations.length > 0 && (
        <>
          <p>
            {t`${plural(messages, 'message')} from ${[...new Set(conversations.map(({ format }) => format))].join(', ')}`}
          </p>
          <Conversations all={conversations} leftOut={leftOut} onLeaveOut={setLeftOut} />
        </>
      )}
      {files.length > 0 && (
        <div className="stack gap-3">
          <label className="tick-line">
            <input type="checkbox" checked={withFiles} onChange={({ target: { checked: on } }) => setWithFiles(on)} />
            {t`${plural(files.length, 'file', 'files')} in its memory`}
          </label>
          <details>
            <summary>{t`Files`}</summary>
            <ul className="stack gap-3">
              {files.map(({ path }) => (
                <li key={path} dir="auto">
                  {shownText(path)}
                </li>
              ))}
            </ul>
          </details>
        </div>
      )}
      <NotTaken notTaken={notTaken} />
      <Field
        label={t`For`}
        {...(!isNew && soul !== null ? { hint: t`The soul in ${shownText(soul.path)} is only for a new agent.` } : {})}
      >
        {(given) => (
          <select {...given} className="field" value={who} onChange={({ target: { value } }) => setWho(value)}>
            {seat !== undefined && <option value={NEW}>{t`A new agent`}</option>}
            <AgentOptions agents={agents} />
          </select>
        )}
      </Field>
      {existing && withFiles && files.length > 0 && (
        <ImportExam
          key={existing.agentId}
          agentId={existing.agentId}
          name={displayName(existing, roster)}
          files={files}
        />
      )}
      {isNew && seat !== undefined && (
        <>
          <TextField label={t`Name`} wrong={fault} prose value={name} onText={setName} />
          <TextField
            label={t`Soul`}
            hint={soul === null ? undefined : t`From ${shownText(soul.path)}. Read it before you import it.`}
            prose
            rows={6}
            value={words}
            onText={setWords}
          />
        </>
      )}
      <div className="gap-4 flex wrap">
        <button type="submit" className="solid" disabled={target === null || nothing}>
          {nothing ? t`Nothing chosen` : t`Move in`}
        </button>
        <button type="button" className="ghost" onClick={onCancel}>{t`Cancel`}</button>
      </div>
      <p className="setting-hint">{t`Nothing that is here changes.`}</p>
    </form>
  );
}

/**
 * A message to the agent that asks it to note what matters. It stands in the conversation, for the
 * person to read, change and send. Above it is what waking the agent costs.
 */
function FirstMemory({ agentId }: { agentId: AgentId }) {
  const { device } = useRoost();
  const { go } = useRoute();
  const agent = useHousehold((state) => state.roster.byId.get(agentId));
  const { all: cost } = useWakeCosts(agent ? [agent] : []);
  const write = () => {
    const ask = t`I imported our conversations from another product. Look through them with recall. Note what matters in your memory: who I am, what we decided, what I like. Add the conversation and its day to each line.`;
    if (readDraft(device.browser, agentId).trim() === '') storeDraft(device.browser, agentId, ask);
    go(PATHS.agent(agentId));
  };
  return (
    <div className="stack at-start gap-3">
      <button type="button" className="solid" onClick={write}>{t`Ask it to remember this`}</button>
      <p className="setting-hint">
        <span>{t`Opens a message that you can change before you send it.`}</span>
        {cost && (
          <span>{` ${t`It reads about ${tokens(cost.tokens)} tokens${cost.microUsd === null ? '' : ` (${money(cost.microUsd)})`}, and more when it looks something up.`}`}</span>
        )}
      </p>
    </div>
  );
}

function Done({
  agentId,
  moved,
  kept,
  onAgain,
}: {
  agentId: AgentId;
  moved: MovedIn;
  kept: KeptFiles;
  onAgain: () => void;
}) {
  const { conversations, documents, written, forgotten } = moved;
  const same = documents - written - forgotten;
  return (
    <div className="done-box pad-wide stack at-start gap-5">
      <p>
        <strong>{written + kept.written === 0 ? t`Nothing is new.` : t`Imported.`}</strong>{' '}
        <span>{`${plural(conversations, 'conversation')}, ${plural(written, 'new entry', 'new entries')}.`}</span>
        {same > 0 && <span>{` ${plural(same, 'is here already', 'are here already')}.`}</span>}
        {forgotten > 0 && <span>{` ${plural(forgotten, 'entry was left out.', 'entries were left out.')}`}</span>}
      </p>
      {kept.written + kept.same > 0 && <p>{t`${plural(kept.written, 'file', 'files')} in its memory`}</p>}
      {kept.refused.length > 0 && (
        <ul className="stack gap-3">
          {kept.refused.map(({ path, reason }) => (
            <li key={path}>{t`${shownText(path)}: ${reason}`}</li>
          ))}
        </ul>
      )}
      {conversations > 0 && <FirstMemory agentId={agentId} />}
      <div className="gap-4 flex wrap">
        <Link href={PATHS.portrait(agentId, 'conversations')} className="ghost">{t`Conversations`}</Link>
        {kept.written + kept.same > 0 && <Link href={PATHS.about(agentId)} className="ghost">{t`Memory`}</Link>}
        <button type="button" className="ghost" onClick={onAgain}>{t`Choose files`}</button>
      </div>
    </div>
  );
}

export default function MoveInPage({ onClose }: { onClose: () => void }) {
  const moveIn = moveInOf(useRoost());
  const state = useStore(moveIn.store);
  const folder = useId();
  const read = (files: readonly DroppedFile[]) => {
    if (files.length > 0) void moveIn.read(files.map(chosen));
  };
  return (
    <div className="page one-column gap-7 stack">
      <PageHead title={t`Move in`} onClose={onClose} />
      <div className="exports gap-7 stack narrow ink-2 text-3">
        {(state.kind === 'idle' || state.kind === 'failed') && (
          <>
            <p>{t`Your conversations from another product become part of an agent’s memory. You see them before anything is imported. Nothing leaves this device.`}</p>
            <DropZone
              label={t`Choose files`}
              accept=".zip,.json,.jsonl,.af,.md,.markdown,.txt"
              onFiles={read}
            >{t`or drop it here: ${'ChatGPT, Claude, Claude Code, OpenClaw (.jsonl), Letta (.af), .zip, .md'}`}</DropZone>
            <div>
              <input
                ref={(input) => input?.setAttribute('webkitdirectory', '')}
                id={folder}
                className="visually-hidden"
                type="file"
                multiple
                onChange={({ target }) => {
                  const files = [...(target.files ?? [])];
                  target.value = '';
                  read(files.map((file) => ({ file, path: file.webkitRelativePath || file.name })));
                }}
              />
              <label htmlFor={folder} className="ghost drop-button">{t`Choose a folder`}</label>
            </div>
          </>
        )}
        {state.kind === 'reading' && (
          <Work label={t`Loading…`} progress={state.progress} onCancel={() => moveIn.cancel()} />
        )}
        {state.kind === 'preview' && (
          <Preview
            preview={state.preview}
            onTake={(target, sessionIds, withFiles) => void moveIn.take({ target, sessionIds, withFiles })}
            onCancel={() => moveIn.reset()}
          />
        )}
        {state.kind === 'moving' && (
          <Work label={t`Importing`} progress={state.progress} onCancel={() => moveIn.cancel()} />
        )}
        <div role="status" className="exports-said">
          {state.kind === 'done' && (
            <Done agentId={state.agentId} moved={state.moved} kept={state.kept} onAgain={() => moveIn.reset()} />
          )}
          {state.kind === 'failed' && (
            <p className="wrong-note">
              <span>
                {retold(state.reason)}{' '}
                {state.partly ? t`Only a part was imported. Import it again for the rest.` : t`Nothing was changed.`}
              </span>
            </p>
          )}
        </div>
      </div>
    </div>
  );
}
