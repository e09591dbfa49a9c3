/** Exams of an agent: whether it is still the same under a new condition, and its certificates. */
import { useEffect, useId, useRef, useState } from 'react';
import { useLocationProperty } from 'wouter/use-browser-location';
import { examChange, type ExamItem, isExamOver } from '../../../shared/domain/exams.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import type { Exam } from '../../../shared/protocol/exams.ts';
import { retold, t } from '../../language/t.ts';
import { type ExamChoice, examsOf, type PreparedExam } from '../../state/exams.ts';
import { useRoost } from '../context.tsx';
import { WrongNote } from '../design/field.tsx';
import { OneOf } from '../design/one-of.tsx';
import { useAction } from '../design/use-action.ts';
import { useQuery } from '../hooks.ts';
import { ModelSelect } from '../models/model-select.tsx';
import { QueryView } from '../parts/page-head.tsx';
import { costText, money } from '../text/money.ts';
import { asBeginning } from '../text/sizes.ts';
import { fullTime } from '../text/time.ts';
import { adviceText, conditionsOf, outcomeText, stateText, titleOf } from './words.ts';
import './exams.css';

/** Nothing for an answer that was not graded. */
const verdictText = (isRight: boolean | null): string =>
  isRight === null ? '' : ` · ${isRight ? t`right` : t`wrong`}`;

/** A question with both answers, side by side. */
function Item({ item, names }: { readonly item: ExamItem; readonly names: ReturnType<typeof conditionsOf> }) {
  const answer = (side: 'before' | 'after') => (
    <div className={`exam-answer exam-${side}`}>
      <p className="ink-3 text-2">{`${names[side]}${verdictText(item[side].isRight)}`}</p>
      <p className="break" dir="auto">
        {item[side].text === '' ? t`No answer.` : item[side].text}
      </p>
    </div>
  );
  return (
    <li className="exam-item ruled stack gap-3 pad-4-0" data-change={examChange(item)}>
      <p className="ink break" dir="auto">
        {item.question}
      </p>
      <div className="halves stack gap-4">
        {answer('before')}
        {answer('after')}
      </div>
      <p className="ink-3 text-2 break" dir="auto">{t`Expected: ${item.expected}`}</p>
    </li>
  );
}

/** Every question. Those whose answers differ come first, and the rest is folded. */
function Items({ exam, folds }: { readonly exam: Exam; readonly folds: boolean }) {
  const names = conditionsOf(exam);
  const isAsBefore = (item: ExamItem) => folds && ['same', 'missed'].includes(examChange(item));
  const list = (items: readonly ExamItem[]) => (
    <ol>
      {items.map((item) => (
        <Item key={item.question} item={item} names={names} />
      ))}
    </ol>
  );
  const asBefore = exam.items.filter(isAsBefore);
  return (
    <>
      {list(exam.items.filter((item) => !isAsBefore(item)))}
      {asBefore.length > 0 && (
        <details className="memory-file">
          <summary>{t`As before: ${asBefore.length}`}</summary>
          {list(asBefore)}
        </details>
      )}
    </>
  );
}

/** An exam that waits for the person. */
function Answered({ exam }: { readonly exam: Exam }) {
  const exams = examsOf(useRoost());
  const { busy, failed, act } = useAction();
  const id = useId();
  const { before, after } = conditionsOf(exam);
  const isModel = exam.cause === 'model';
  const advice = adviceText(exam.cause);
  return (
    <article className="exam pad-wide stack gap-3 round ground-2" aria-labelledby={id}>
      <h4 id={id}>{titleOf(exam)}</h4>
      <p className="ink">{outcomeText(exam.items)}</p>
      <Items exam={exam} folds />
      <p className="ink-3 text-2">{t`It cost ${costText(exam)}.`}</p>
      {advice !== null && <p className="ink-3 text-2">{advice}</p>}
      <WrongNote text={failed} />
      <div className="to-end gap-4 cluster">
        <button type="button" className="ghost" disabled={busy} onClick={() => act(() => exams.answer(exam, false))}>
          {isModel ? t`Stay with ${before}` : asBeginning(t`too much lost`)}
        </button>
        <button type="button" className="solid" disabled={busy} onClick={() => act(() => exams.answer(exam, true))}>
          {isModel ? t`Keep ${after}` : asBeginning(t`good enough`)}
        </button>
      </div>
    </article>
  );
}

/** A certificate, or an exam that failed, in one line. */
function ExamLine({ exam }: { readonly exam: Exam }) {
  const { changedAt, items, detail, state } = exam;
  const head = [
    ...[fullTime(changedAt), titleOf(exam), stateText(exam)],
    ...(items.length === 0 ? [] : [outcomeText(items)]),
    ...(exam.tokens === null ? [] : [costText(exam)]),
  ].join(' · ');
  return (
    <li>
      <details className="memory-file">
        <summary>{head}</summary>
        {state === 'failed' && detail !== null && <p dir="auto">{retold(detail)}</p>}
        <Items exam={exam} folds={false} />
      </details>
    </li>
  );
}

function Running({ exam }: { readonly exam: Exam }) {
  const exams = examsOf(useRoost());
  const { busy, act } = useAction();
  return (
    <p className="flex apart gap-4" role="status">
      <span>{t`${titleOf(exam)}: the copy answers now. This takes a minute or two.`}</span>
      <button type="button" className="ghost" disabled={busy} onClick={() => act(() => exams.stop(exam))}>
        {t`Stop`}
      </button>
    </p>
  );
}

function priceText({ cost: { microUsd, mostMicroUsd, demo } }: PreparedExam): string {
  if (demo) return t`Demo: no model is connected, and nothing costs anything.`;
  return t`About ${money(microUsd)}, at most ${money(mostMicroUsd)}.`;
}

/** Chooses what to compare, shows the price, and begins. `files`: of an import. */
function Form({
  agentId,
  files,
  onClose,
}: {
  readonly agentId: AgentId;
  readonly files?: ImportedFiles;
  readonly onClose: () => void;
}) {
  const exams = examsOf(useRoost());
  const { busy, failed, act } = useAction();
  const [choice, setChoice] = useState<ExamChoice>(files ? { cause: 'import', files } : { cause: 'model', model: '' });
  const [prepared, setPrepared] = useState<PreparedExam | null>(null);
  const choose = (next: ExamChoice) => {
    setChoice(next);
    setPrepared(null);
  };
  const prepare = () =>
    act(async () => {
      const read = await exams.prepare(agentId, choice);
      if (!read.ok) return read;
      return setPrepared(read.prepared);
    });
  const begin = (exam: PreparedExam) =>
    act(async () => {
      const done = await exams.begin(exam);
      if (!done.ok) return done;
      return onClose();
    });
  return (
    <div className="exam-form stack gap-4 pad-wide round ground-2">
      {choice.cause !== 'import' && (
        <OneOf<ExamChoice['cause']>
          label={t`What changes`}
          options={[
            { value: 'model', text: t`Model` },
            { value: 'compaction', text: t`The conversation is summarised` },
          ]}
          value={choice.cause}
          onChange={(cause) => choose(cause === 'compaction' ? { cause } : { cause: 'model', model: '' })}
        />
      )}
      {choice.cause === 'model' && (
        <ModelSelect
          label={t`New model`}
          value={choice.model}
          standard={t`Default: the team’s`}
          onChange={(model) => choose({ cause: 'model', model })}
        />
      )}
      {prepared && <p role="status">{priceText(prepared)}</p>}
      <WrongNote text={failed} />
      <div className="to-end gap-4 cluster">
        <button type="button" className="ghost" onClick={onClose}>{t`Cancel`}</button>
        {prepared ? (
          <button type="button" className="solid" disabled={busy} onClick={() => begin(prepared)}>{t`Begin`}</button>
        ) : (
          <button type="button" className="solid" disabled={busy} onClick={prepare}>{t`Show the price`}</button>
        )}
      </div>
    </div>
  );
}

/** The exams that run, or wait for the person. */
const Open = ({ exams }: { readonly exams: readonly Exam[] }) =>
  exams.map((exam) => {
    if (exam.state === 'running') return <Running key={exam.examId} exam={exam} />;
    return exam.state === 'answered' ? <Answered key={exam.examId} exam={exam} /> : null;
  });

type ImportedFiles = Extract<ExamChoice, { cause: 'import' }>['files'];

/** Lets a copy of an agent sit an exam with the files of an import, before they are imported. */
export function ImportExam({
  agentId,
  name,
  files,
}: {
  readonly agentId: AgentId;
  readonly name: string;
  readonly files: ImportedFiles;
}) {
  const query = examsOf(useRoost()).of(agentId);
  const [open, setOpen] = useState(false);
  return (
    <section className="exams full stack gap-4" aria-label={t`Continuity`}>
      <QueryView query={query}>
        {(all) => (
          <>
            <Open exams={all} />
            {all.every((exam) => isExamOver(exam.state)) &&
              (open ? (
                <Form agentId={agentId} files={files} onClose={() => setOpen(false)} />
              ) : (
                <button type="button" className="link-button" onClick={() => setOpen(true)}>
                  {t`Let ${name} sit an exam first`}
                </button>
              ))}
          </>
        )}
      </QueryView>
    </section>
  );
}

export function ExamsSection({ agentId, name }: { readonly agentId: AgentId; readonly name: string }) {
  const query = examsOf(useRoost()).of(agentId);
  const state = useQuery(query);
  // A link to the exams of an agent, such as that of its model, asks for one.
  const isWanted = useLocationProperty(() => location.hash === '#continuity');
  const [chosen, setOpen] = useState<boolean | null>(null);
  const open = chosen ?? isWanted;
  const ref = useRef<HTMLElement>(null);
  const isReady = state.kind === 'ready';
  useEffect(() => {
    if (!isWanted || !isReady) return;
    ref.current?.scrollIntoView?.({ block: 'start' });
    ref.current?.focus({ preventScroll: true });
  }, [isWanted, isReady]);
  const isFree = isReady && state.value.every((exam) => isExamOver(exam.state));
  return (
    <section ref={ref} tabIndex={-1} className="exams stack gap-4" aria-label={t`Continuity`}>
      <h3 className="flex apart">
        <span>{t`Continuity`}</span>
        {isFree && !open && (
          <button type="button" className="link-button" onClick={() => setOpen(true)}>
            {t`Let ${name} sit an exam first`}
          </button>
        )}
      </h3>
      <p className="ink-3 text-2">{t`A copy of ${name} answers 20 questions about itself, before and after a change. ${name} is not touched, and you decide.`}</p>
      {isFree && open && <Form agentId={agentId} onClose={() => setOpen(false)} />}
      <QueryView query={query}>
        {(all) => (
          <>
            <Open exams={all} />
            <ul>
              {all
                .filter((exam) => isExamOver(exam.state))
                .map((exam) => (
                  <ExamLine key={exam.examId} exam={exam} />
                ))}
            </ul>
          </>
        )}
      </QueryView>
    </section>
  );
}
