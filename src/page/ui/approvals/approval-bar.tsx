/**
 * The bar below the header with the newest question of an agent, on every page that does not show
 * it already. It pushes the page down and covers nothing.
 */
import { useState } from 'react';
import { Link } from 'wouter';
import { useStore } from 'zustand';
import type { ProjectId } from '../../../shared/domain/ids.ts';
import type { ToolCall } from '../../../shared/protocol/approvals.ts';
import { t } from '../../language/t.ts';
import { approvalsOf } from '../../state/approvals.ts';
import { askBarOf } from '../../state/waiting.ts';
import { useRoost } from '../context.tsx';
import { useQuery } from '../hooks.ts';
import { CloseIcon } from '../design/icons.tsx';
import { PATHS } from '../routes.ts';
import { plural } from '../text/sizes.ts';
import { revealedCode } from '../text/unseen.ts';
import { useTeammates } from '../use-somebody.ts';
import { ApprovalCard } from './approval-card.tsx';
import { useSettled } from './question-card.tsx';
import { asksText, inputOf, textIn } from './words.ts';
import './approvals.css';
import { useAction } from '../design/use-action.ts';
import { AllowInProject } from './allow-in-project.tsx';

/** Characters of a command or address that fit into the line. */
const LINE_CHARS = 80;

/** The complete request, if it fits into one line; null: only its card shows it. */
function lineOf(call: ToolCall): string | null {
  const { question, content } = call;
  const isPlain = !content || (content.files.length === 0 && content.before === null && content.isWhole);
  if (question || !isPlain) return null;
  const { background, ...input } = inputOf(call);
  const text =
    call.tool === 'run_command' && background !== true && Object.keys(input).length === 1
      ? textIn(input, 'command')
      : call.tool === 'fetch_page'
        ? textIn(input, 'url')
        : null;
  return text !== null && text.length <= LINE_CHARS && !/[\r\n]/.test(text) ? revealedCode(text) : null;
}

interface QuestionProps {
  readonly call: ToolCall;
  /** The project that has its command ask. */
  readonly projectId: ProjectId | undefined;
  /** Further questions. */
  readonly more: number;
  readonly onPutAway: () => void;
}

function Question({ call, projectId, more, onPutAway }: QuestionProps) {
  const calls = approvalsOf(useRoost());
  const mate = useTeammates().find(call.agentId);
  const settled = useSettled(`${call.callId} ${call.content?.pin}`);
  const { busy, act } = useAction();
  const [open, setOpen] = useState(false);
  const line = lineOf(call);
  const say = (answer: 'once' | 'no') => act(() => calls.answer(call, answer, ''));
  return (
    <section className="ask-bar gap-4 cluster text-3 pad-3-5 scroll-y" aria-label={t`A question for you`}>
      <p className="ask-bar-line narrow break">
        <i className="dot dot-asks" aria-hidden="true" />
        <span role="status" dir="auto">
          {asksText(call, mate.name)}
        </span>{' '}
        {line !== null && <code dir="ltr">{line}</code>}
        {more > 0 && <Link href={PATHS.inbox}>{plural(more, 'more question')}</Link>}
      </p>
      <div className="end line gap-4">
        {/* It is about all commands of the project, so it is there also where this one is too long. */}
        {!open && projectId !== undefined && call.tool === 'run_command' && (
          <AllowInProject call={call} projectId={projectId} disabled={busy || !settled} />
        )}
        {!open && line !== null && (
          <>
            <button type="button" className="ghost" disabled={busy} onClick={() => say('no')}>{t`No`}</button>
            <button
              type="button"
              className="solid"
              disabled={busy || !settled}
              onClick={() => say('once')}
            >{t`Yes, once`}</button>
          </>
        )}
        <button type="button" className="ghost" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? t`Show less` : t`Details`}
        </button>
        <button type="button" className="icon-button" aria-label={t`Put away`} title={t`Put away`} onClick={onPutAway}>
          <CloseIcon />
        </button>
      </div>
      {open && <ApprovalCard call={call} oneClick />}
    </section>
  );
}

export default function AskBar() {
  const roost = useRoost();
  const bar = askBarOf(roost);
  const state = useQuery(approvalsOf(roost).approvals);
  const { seen, elsewhere } = useStore(bar);
  const waiting = state.kind === 'ready' ? state.value.waiting : [];
  const isElsewhere = (agentId: string) => ['', agentId].some((id) => (elsewhere.get(id) ?? 0) > 0);
  const fresh = waiting.filter((call) => !call.later && !seen.has(call.callId) && !isElsewhere(call.agentId));
  const [first] = fresh;
  if (!first) return null;
  return (
    <Question
      key={first.callId}
      call={first}
      projectId={state.kind === 'ready' ? state.value.projects?.[first.agentId] : undefined}
      more={fresh.length - 1}
      onPutAway={() => bar.setState({ seen: new Set(waiting.map(({ callId }) => callId)) })}
    />
  );
}
