/**
 * The card on which the person approves or refuses a tool call, with everything that the approval
 * covers.
 */
import { Fragment, lazy, Suspense, useId, useState } from 'react';
import type { Answer, CallContent, PinnedFile, ToolCall } from '../../../shared/protocol/approvals.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { ASKING_TOOLS, MIND_PREFIX } from '../../../shared/domain/toolsets.ts';
import { t } from '../../language/t.ts';
import { approvalsOf } from '../../state/approvals.ts';
import { filesOf } from '../../state/files.ts';
import { problemText } from '../../state/ports.ts';
import { Diff } from '../parts/diff.tsx';
import { bytes, count, plural } from '../text/sizes.ts';
import { revealed, revealedCode } from '../text/unseen.ts';
import { useRoost } from '../context.tsx';
import { MenuButton } from '../design/menu.tsx';
import { MoreIcon } from '../design/icons.tsx';
import { hostsIn, wrongInHosts } from '../text/hosts.ts';
import { clockTime, dayWithin } from '../text/time.ts';
import { useNow, useQuery } from '../hooks.ts';
import { useTeammates } from '../use-somebody.ts';
import { wantsInGeneral } from '../text/tool-phrases.ts';
import { QuestionCard, useSettled } from './question-card.tsx';
import { inputOf, isBounded, SCRIPT_TOOLS, textIn, touches, wantsTo } from './words.ts';
import '../design/excerpt.css';
import './approvals.css';
import { useAction } from '../design/use-action.ts';
import { AllowInProject } from './allow-in-project.tsx';

// What approving a call covers besides its text: the files of the agent's folder that it refers to.

/** Files whose texts are expanded at first. */
const OPEN_AT_FIRST = 1;

const leadsText = ({ leadsTo }: PinnedFile) => (leadsTo === null ? '' : t`, which leads to ${revealedCode(leadsTo)}`);

/** Describes a file that is not shown as text. */
function kindText({ kind, bytes: size, entries }: PinnedFile): string {
  switch (kind) {
    case 'none':
      return t`nothing`;
    case 'folder':
      return t`a folder with ${plural(entries, 'file or folder', 'files or folders')}, ${bytes(size)}`;
    case 'link':
      return t`a link`;
    case 'file':
    case 'other':
      return bytes(size);
  }
}

function FileText({ file, isOpen }: { file: PinnedFile; isOpen: boolean }) {
  const head = (
    <>
      <span dir="auto">{revealedCode(file.path)}</span>
      {leadsText(file)}{' '}
      <small className="ink-2">{file.inTurn ? t`${kindText(file)}, named by another` : kindText(file)}</small>
    </>
  );
  if (file.text === null) return <p className="call-file text-2 break">{head}</p>;
  return (
    <details className="call-file text-2 break" open={isOpen}>
      <summary className="touchable">{head}</summary>
      <pre className="excerpt" dir="auto">
        {revealed(file.text)}
      </pre>
    </details>
  );
}

/** Files of the folder that a command reads. `isBounded`: it can do no more than its agent can. */
function ReadFiles({ content: { files, rest, isWhole }, isBounded }: { content: CallContent; isBounded: boolean }) {
  if (files.length === 0 && isWhole) return null;
  return (
    <section className="call-files stack gap-4 one-column" aria-label={t`Files`}>
      {files.length > 0 && (
        <p className="pretty text-2 ink-2">
          {t`It reads ${plural(files.length + rest, 'file')} of its folder, as they are now.`}
        </p>
      )}
      {files.map((file, i) => (
        <FileText key={file.path} file={file} isOpen={i < OPEN_AT_FIRST} />
      ))}
      {rest > 0 && <p className="pretty text-2 ink-2">{t`and ${count(rest)} more`}</p>}
      {!(isWhole && isBounded) && (
        <p className="pretty text-2 ink-2">
          {isWhole
            ? t`“Always” applies until one of these files changes. Installed packages and other files that it finds are not checked.`
            : t`It may read more than Roost can check, so it can be allowed only once.`}
        </p>
      )}
    </section>
  );
}

const isText = (file: PinnedFile | undefined) => file === undefined || file.kind === 'none' || file.text !== null;

function ChangedFile({ path, before, now }: { path: string; before?: PinnedFile; now?: PinnedFile }) {
  return (
    <>
      <p className="pretty text-2 ink-2" dir="auto">
        {revealedCode(path)}
      </p>
      {isText(before) && isText(now) ? (
        <Diff before={before?.text ?? ''} after={now?.text ?? ''} />
      ) : (
        <p className="pretty text-2 ink-2">
          {`${before ? kindText(before) : t`nothing`} → ${now ? kindText(now) : t`nothing`}`}
        </p>
      )}
    </>
  );
}

/** What has changed in it since the person was asked, or agreed. */
function Changed({ content: { files, before } }: { content: CallContent }) {
  if (before === null) return null;
  const paths = [...new Set([...before, ...files].map(({ path }) => path))];
  const changes = paths.flatMap((path) => {
    const [was, is] = [before, files].map((list) => list.find((file) => file.path === path));
    return was?.mark === is?.mark && was?.leadsTo === is?.leadsTo ? [] : [{ path, was, is }];
  });
  return (
    <section className="call-changed stack gap-4 one-column from-5" aria-label={t`What has changed`}>
      <p className="pretty text-2 ink-2">
        <b>{t`Changed since you were asked, or since you allowed it. Check it again.`}</b>
      </p>
      {changes.map(({ path, was, is }) => (
        <ChangedFile key={path} path={path} {...(was ? { before: was } : {})} {...(is ? { now: is } : {})} />
      ))}
    </section>
  );
}

/** What would be deleted or moved. */
function WhatLies({ file }: { file: PinnedFile }) {
  if (file.kind === 'file' && file.text !== null) return <Diff before={file.text} after="" />;
  return <p className="pretty text-2 ink-2">{kindText(file)}</p>;
}

const later = () => import('./wanted-later.ts');
const WantedReminder = lazy(async () => ({ default: (await later()).WantedReminder }));
const WantedScript = lazy(async () => ({ default: (await later()).WantedScript }));

/** The diff between a file and the text to be written, kept up to date while the person reads. */
function WriteDiff({ agentId, path, content }: { agentId: AgentId; path: string; content: string }) {
  const now = useQuery(filesOf(useRoost()).now(agentId, path));
  if (now.kind === 'loading') return <p className="pretty text-2 ink-2" role="status">{t`Loading…`}</p>;
  const lies = now.kind === 'ready' ? now.value : null;
  const unseen =
    lies?.kind === 'large'
      ? t`It is ${bytes(lies.bytes)} long, which is more than is shown here.`
      : lies?.kind === 'other'
        ? t`This file is neither text nor a picture that can be shown.`
        : now.kind === 'failed'
          ? problemText(now.problem)
          : null;
  return (
    <>
      {unseen !== null && (
        <p className="pretty text-2 ink-2">{`${t`${revealedCode(path)} would be replaced.`} ${unseen}`}</p>
      )}
      <Diff before={lies?.kind === 'text' ? lies.text : ''} after={content} />
    </>
  );
}

/** The complete request: a command as it will run, a change as it will apply. */
export function Wanted({ call }: { call: ToolCall }) {
  const input = inputOf(call);
  const of = (name: string) => textIn(input, name);
  const [command, url, path, content, before, after] = [
    of('command'),
    of('url'),
    of('path'),
    of('content'),
    of('old_text'),
    of('new_text'),
  ];
  const whole = call.tool === 'run_command' ? command : call.tool === 'fetch_page' ? url : null;
  if (whole !== null)
    return (
      <pre className="excerpt" dir="ltr">
        {revealedCode(whole)}
      </pre>
    );
  const lies = (at: string | null) => call.content?.files.find((file) => file.path === at);
  if (call.tool === 'write_file' && path !== null && content !== null) {
    const there = lies(path);
    // A long text is loaded on demand.
    return there && (there.kind === 'none' || there.text !== null) ? (
      <Diff before={there.text ?? ''} after={content} />
    ) : (
      <WriteDiff
        agentId={call.agentId}
        path={call.folder === undefined ? path : `${call.folder}/${path}`}
        content={content}
      />
    );
  }
  const gone = call.tool === 'delete_file' ? lies(path) : undefined;
  if (gone) return <WhatLies file={gone} />;
  if (call.tool === 'move_file') {
    const over = lies(of('to'));
    if (!over || over.kind === 'none') return null;
    return (
      <>
        <p className="pretty text-2 ink-2">
          {input['replace'] === true
            ? t`${revealedCode(over.path)} would be replaced.`
            : t`${revealedCode(over.path)} exists already, so nothing would be moved.`}
        </p>
        <WhatLies file={over} />
      </>
    );
  }
  if (call.tool === 'edit_file' && before !== null && after !== null)
    return (
      <>
        <Diff before={before} after={after} />
        {input['all'] === true && <p className="pretty text-2 ink-2">{t`Everywhere in the file.`}</p>}
      </>
    );
  if (call.tool === 'wake_schedule')
    return (
      <Suspense fallback={<Raw input={input} />}>
        <WantedReminder call={call} />
      </Suspense>
    );
  if (call.tool.startsWith(MIND_PREFIX)) return <WantedByProgram input={input} />;
  return <Raw input={input} />;
}

/**
 * Indented JSON, unless indentation would be most of it: no other view shows deeply nested values.
 */
function written(input: Readonly<Record<string, unknown>>): string {
  const short = JSON.stringify(input);
  const long = JSON.stringify(input, null, 2);
  return long.length > 4 * short.length + 1_000 ? short : long;
}

function Raw({ input }: { input: Readonly<Record<string, unknown>> }) {
  return (
    <pre className="excerpt" dir="auto">
      {revealed(written(input))}
    </pre>
  );
}

interface Change {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}
/** null: it is not a diff, and is shown as it is. */
function changeOf(diff: unknown): Change | null {
  const given = typeof diff === 'object' && diff !== null ? { ...diff } : {};
  const [path, before, after] = ['path', 'old_text', 'new_text'].map((name) => textIn(given, name));
  return path != null && after != null && Object.keys(given).length === 3
    ? { path, before: before ?? '', after }
    : null;
}

/** Input of an ACP agent: its command and its diffs in readable form, everything else as it is. */
function WantedByProgram({ input }: { input: Readonly<Record<string, unknown>> }) {
  const command = textIn(input, 'command');
  const diffs: readonly unknown[] = Array.isArray(input['diffs']) ? input['diffs'] : [];
  const changes = diffs.flatMap((each) => changeOf(each) ?? []);
  const areAll = changes.length > 0 && changes.length === diffs.length;
  const rest = Object.fromEntries(
    Object.entries(input).filter(
      ([name, value]) =>
        !(name === 'command' && command !== null) &&
        !(name === 'title' && value === command) &&
        !(name === 'diffs' && areAll),
    ),
  );
  return (
    <>
      {command !== null && (
        <pre className="excerpt" dir="ltr">
          {revealedCode(command)}
        </pre>
      )}
      {areAll &&
        changes.map(({ path, before, after }, i) => (
          <Fragment key={i}>
            <p className="pretty text-2 ink-2">{revealedCode(path)}</p>
            <Diff before={before} after={after} />
          </Fragment>
        ))}
      {Object.keys(rest).length > 0 && <Raw input={rest} />}
    </>
  );
}

const RUN_COMMANDS = ['run_command', 'mind__execute'];

interface CardProps {
  readonly call: ToolCall;
  /**
   * Each answer is one press: "No" refuses at once, and the menu has "No" with a
   * reason.
   */
  readonly oneClick?: boolean;
}

/** A request that waits for the person, with its possible answers. */
export function ApprovalCard({ call, oneClick = false }: CardProps) {
  return call.question ? (
    <QuestionCard call={call} question={call.question} />
  ) : (
    <YesCard call={call} oneClick={oneClick} />
  );
}

function YesCard({ call, oneClick = false }: CardProps) {
  const calls = approvalsOf(useRoost());
  const approvals = useQuery(calls.approvals);
  const approval = approvals.kind === 'ready' ? approvals.value : null;
  const reach = approval?.reach?.[call.agentId];
  const projectId = call.tool === 'run_command' ? approval?.projects?.[call.agentId] : undefined;
  // The content of the request may change just before a press, too.
  const settled = useSettled(
    (approval?.waiting ?? []).map(({ callId, content }) => `${callId} ${content?.pin}`).join(),
  );
  const mate = useTeammates().find(call.agentId);
  const now = useNow();
  const { busy, act } = useAction();
  const [words, setWords] = useState<string | null>(null);
  const [ownHosts, setOwnHosts] = useState('');
  const [isShown, setIsShown] = useState(false);
  const isScript = SCRIPT_TOOLS.includes(call.tool);
  const isHeld = isScript && (!isShown || wrongInHosts(hostsIn(ownHosts)) !== null);
  const reaches = touches(call, reach);
  const id = useId();
  const mayAlways = isBounded(call, reach) || (call.content?.isWhole ?? true);
  const say = (answer: Answer, with_ = '') => {
    act(() => calls.answer(call, answer, with_, answer === 'once' ? hostsIn(ownHosts) : []));
  };
  const more = [
    ...(ASKING_TOOLS.includes(call.tool)
      ? []
      : [
          {
            label: t`Always allow ${mate.name} to ${wantsInGeneral(call.tool)}`,
            run: () => say('always-tool'),
          },
        ]),
    ...(RUN_COMMANDS.includes(call.tool) && textIn(inputOf(call), 'command') !== null && mayAlways
      ? [
          {
            label: t`Always allow exactly this command`,
            run: () => say('always-command'),
          },
        ]
      : []),
    ...(oneClick ? [{ label: t`No, and say why…`, run: () => setWords('') }] : []),
    ...(call.later ? [] : [{ label: t`Not now`, run: () => say('later') }]),
  ];
  return (
    <article
      className="call-card pad-6 round-l one-column gap-4 stack ground-1 tint"
      aria-labelledby={id}
      style={{ '--c': mate.color }}
    >
      <h3 className="break text-4 medium" id={id}>
        {t`${(
          <span className="agent-name named" dir="auto">
            {mate.name}
          </span>
        )} wants to ${wantsTo(call)}`}
      </h3>
      {call.folder !== undefined && (
        <p className="pretty text-2 ink-2">{t`Asked by an executor. Paths start in ${revealedCode(call.folder)}.`}</p>
      )}
      {call.content && call.tool !== 'accept_script' && <Changed content={call.content} />}
      {isScript ? (
        <Suspense fallback={<Raw input={inputOf(call)} />}>
          <WantedScript call={call} ownHosts={ownHosts} onOwnHosts={setOwnHosts} onShown={setIsShown} />
        </Suspense>
      ) : (
        <Wanted call={call} />
      )}
      {call.content && RUN_COMMANDS.includes(call.tool) && (
        <ReadFiles content={call.content} isBounded={isBounded(call, reach)} />
      )}
      <p className="pretty text-2 ink-2">
        {reaches !== '' && <span>{`${reaches} `}</span>}
        <span>{t`Asked ${dayWithin(call.askedAt, now)} ${clockTime(call.askedAt)}.`}</span>
      </p>
      {words !== null && (
        <label className="text-2 stack gap-3 ink-2">
          {t`Message to ${mate.name} (optional)`}
          <textarea
            className="field"
            rows={2}
            maxLength={4_000}
            value={words}
            onChange={(event) => setWords(event.target.value)}
          />
        </label>
      )}
      <div className="to-end gap-4 cluster">
        {words === null ? (
          <>
            {more.length > 0 && (
              <MenuButton label={t`More answers`} items={more}>
                <MoreIcon />
              </MenuButton>
            )}
            {projectId !== undefined && (
              <AllowInProject call={call} projectId={projectId} disabled={busy || !settled} />
            )}
            <button
              type="button"
              className="ghost"
              disabled={busy}
              onClick={() => (oneClick ? say('no') : setWords(''))}
            >{t`No`}</button>
            <button
              type="button"
              className="solid"
              disabled={busy || !settled || isHeld}
              onClick={() => say('once')}
            >{t`Yes, once`}</button>
          </>
        ) : (
          <>
            <button type="button" className="ghost" disabled={busy} onClick={() => setWords(null)}>{t`Back`}</button>
            <button type="button" className="solid" disabled={busy} onClick={() => say('no', words)}>{t`No`}</button>
          </>
        )}
      </div>
    </article>
  );
}
