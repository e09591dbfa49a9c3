/** The steps of an answer with their results, and the files that it wrote. */
import { createContext, lazy, Suspense, use, useState } from 'react';
import { Link } from 'wouter';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { ChevronIcon } from '../design/more-icons.tsx';
import { spanText, WORTH_SAYING } from '../parts/part.tsx';
import { PATHS } from '../routes.ts';
import { plural } from '../text/sizes.ts';
import { revealedCode } from '../text/unseen.ts';
import { namedIn, useTeammates } from '../use-somebody.ts';
import { toolSummary, isQuestion, toolPhrase } from './tool-calls.ts';
import { useOpened } from './log.tsx';
import type { ToolBlock } from './parts.ts';
import { outcomeOf, STATES, type StepOutcome, writtenFiles, type WrittenFile } from './step-outcome.ts';
import './steps.css';

/** Steps in a row that are listed. More of them are folded into one line. */
const LISTED = 3;
/** An output up to this size is shown without a press. */
const SHORT = { lines: 8, chars: 700 } as const;
/** Characters of a long text that are shown at first. */
const SHOWN_AT_ONCE = 20_000;

/** Whose answer it is; null: nobody's, so that no file can be opened. */
export const StepsOf = createContext<AgentId | null>(null);

/** A long text, of which more is shown on demand. */
function LongText({ text }: { text: string }) {
  const [length, setLength] = useState(SHOWN_AT_ONCE);
  return (
    <>
      <pre dir="auto">{text.slice(0, length)}</pre>
      {text.length > length && (
        <button
          type="button"
          className="link-button"
          onClick={() => setLength(length + SHOWN_AT_ONCE)}
        >{t`Show more`}</button>
      )}
    </>
  );
}

const isShort = (text: string) => text.length <= SHORT.chars && text.split('\n').length <= SHORT.lines;
/** Arguments that name something by its id. They say nothing to a person. */
const IS_ID = /(?:^id|Id|_id|^projectId|^taskId)$/;

/** The arguments of a call, as far as they say something to a person. */
function Arguments({ input }: { input: unknown }) {
  const inputs = typeof input === 'object' && input !== null ? Object.entries(input) : [];
  const shown = inputs.filter(([name]) => !IS_ID.test(name));
  if (shown.length === 0) return null;
  return (
    <dl className="step-input">
      {shown.map(([name, value]) => (
        <div key={name}>
          <dt>{name.replace(/[_-]+/g, ' ')}</dt>
          <dd>
            <LongText text={typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '')} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface StepProps {
  readonly stepKey: string;
  readonly phrase: string;
  readonly state: keyof typeof STATES;
  readonly outcome: StepOutcome;
  /** ms; null: not known. */
  readonly took: number | null;
  /** The person's answer that let it run, in words; null: nobody was asked. */
  readonly answer?: string | null;
  readonly input: unknown;
}

/** One step in one line, with what came of it. A press opens its input and its output. */
export function StepLine({ stepKey, phrase, state, outcome, took, answer = null, input }: StepProps) {
  const [open, setOpen] = useOpened(stepKey);
  const time = outcome.took ?? (took !== null && took >= WORTH_SAYING ? spanText(took) : null);
  const notes = [answer, outcome.end, time].filter((note) => note !== null);
  const { output } = outcome;
  const inSight = outcome.isShown && output !== '' && isShort(output);
  return (
    <li className="step" data-state={state}>
      <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="at-most-full line gap-3 round-s">
          <span className="step-mark centred fixed" aria-hidden="true" />
          <span className="step-text truncate ink-2" dir="auto">
            {phrase}
            <span className="visually-hidden">, {STATES[state]}</span>
          </span>
          {notes.length > 0 && <span className="fixed figures ink-3">{notes.join(' · ')}</span>}
          <ChevronIcon />
        </summary>
        {open && (
          <>
            <Arguments input={input} />
            {!inSight && output !== '' && <LongText text={output} />}
          </>
        )}
      </details>
      {outcome.isOff && (
        <p className="from-6">
          {t`You have not allowed this.`} <Link href={PATHS.limits(null)}>{t`What agents may do`}</Link>
        </p>
      )}
      {inSight && (
        <pre className="pad-4 scroll framed round-s ground-1 code-small as-written break" dir="auto">
          {output}
        </pre>
      )}
      {!inSight && !open && outcome.isShown && outcome.firstLine !== '' && (
        <p className="step-first truncate from-6" dir="auto">
          {outcome.firstLine}
        </p>
      )}
    </li>
  );
}

function stateOf(tool: ToolBlock): StepProps['state'] {
  if (tool.result === null) return 'now';
  return isQuestion(tool) ? 'asked' : tool.isError ? 'failed' : 'done';
}

const OpenFile = lazy(() => import('../files/open-file.tsx'));

/**
 * A file that the agent wrote. One press opens it. `stepKey`: names its steps in a conversation,
 * where the card is drawn anew once the answer is complete, and the file stays open.
 */
export function FileCard({ file: { path, preview, more }, stepKey }: { file: WrittenFile; stepKey?: string }) {
  const agentId = use(StepsOf);
  const here = useState(false);
  const inLog = useOpened(`file:${stepKey ?? ''}:${path}`);
  const [open, setOpen] = stepKey === undefined ? here : inLog;
  const at = path.lastIndexOf('/');
  const name = revealedCode(path.slice(at + 1));
  return (
    <article className="file-card clip box ground-2" aria-label={name}>
      <header className="line gap-4 pad-4">
        <span className="files-kind fixed" data-kind="file" aria-hidden="true" />
        <b className="text-3 truncate" dir="auto">
          {name}
        </b>
        {at > 0 && (
          <small className="narrow truncate" dir="auto">
            {revealedCode(path.slice(0, at))}
          </small>
        )}
        {agentId !== null && (
          <button
            type="button"
            className="ghost fixed end"
            aria-label={t`Open ${name}`}
            onClick={() => setOpen(true)}
          >{t`Open`}</button>
        )}
      </header>
      {preview !== '' && (
        <pre className="pad clip ruled ink-3 code-small as-written break" dir="auto" data-more={more}>
          {preview}
        </pre>
      )}
      {open && agentId !== null && (
        <Suspense fallback={null}>
          <OpenFile agentId={agentId} path={path} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </article>
  );
}

function StepList({ tools }: { tools: readonly ToolBlock[] }) {
  const nameOf = namedIn(useTeammates());
  return (
    <ul className="steps text-2 stack gap-1 ink-3">
      {tools.map((tool) => (
        <StepLine
          key={tool.toolUseId}
          stepKey={tool.toolUseId}
          phrase={toolPhrase(tool, nameOf)}
          state={stateOf(tool)}
          outcome={outcomeOf(tool)}
          took={tool.startedAt === undefined || tool.endedAt === undefined ? null : tool.endedAt - tool.startedAt}
          input={tool.input}
        />
      ))}
    </ul>
  );
}

/** Consecutive tool calls. Many of them are folded into one line. */
export function ToolSteps({ tools }: { tools: readonly ToolBlock[] }) {
  const [open, setOpen] = useOpened(`steps:${tools[0]?.toolUseId ?? ''}`);
  const nameOf = namedIn(useTeammates());
  const files = writtenFiles(tools);
  const failed = tools.filter(({ isError }) => isError).length;
  const steps = plural(tools.length, 'step');
  return (
    <>
      {tools.length <= LISTED ? (
        <StepList tools={tools} />
      ) : (
        <details
          className="tools above-4 text-2 ink-3"
          data-error={failed > 0}
          open={open}
          onToggle={(event) => setOpen(event.currentTarget.open)}
        >
          <summary className="inline-flex middle gap-3 round-s">
            <ChevronIcon />
            <span className="fixed">{failed > 0 ? t`worked ${steps}, ${failed} failed` : t`worked ${steps}`}</span>
            <span className="steps-gist truncate narrow ink-3" dir="auto">
              {toolSummary(tools, nameOf)}
            </span>
          </summary>
          {open && <StepList tools={tools} />}
        </details>
      )}
      {files.map((file) => (
        <FileCard key={file.path} file={file} stepKey={tools[0]?.toolUseId ?? ''} />
      ))}
    </>
  );
}
