/** One message to everybody who is awake, and the answers side by side. */
import { isPaused } from '../../state/live.ts';
import { type FormEvent, useEffect, useState } from 'react';
import { Link } from 'wouter';
import { useStore } from 'zustand';
import type { Agent } from '../../../shared/domain/agent.ts';
import { type AgentId } from '../../../shared/domain/ids.ts';
import { wholeAt } from '../../../shared/domain/read-marks.ts';
import { LIMITS } from '../../../shared/protocol/limits.ts';
import { retold, t } from '../../language/t.ts';
import { openAnswerOf } from '../../state/answers.ts';
import { answersTo, everyoneOf } from '../../state/everyone.ts';
import { PersonWords } from '../chat/markdown.tsx';
import { GrowingParts, ShownParts } from '../chat/message.tsx';
import { partsOf } from '../chat/parts.ts';
import { StepsOf } from '../chat/steps.tsx';
import { useAnswers, useHousehold, useLive, useRoost } from '../context.tsx';
import { useDoingNow } from '../doing-now.ts';
import { keyOf } from '../design/keys.ts';
import { Face } from '../grid/face.tsx';
import { useRehearsing } from '../models/chip.tsx';
import { Lasts } from '../parts/part.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { useWakeCosts } from '../preview/use-wake-cost.ts';
import { PATHS } from '../routes.ts';
import { money } from '../text/money.ts';
import { plural } from '../text/sizes.ts';
import { useSomebody } from '../use-somebody.ts';
import './everyone.css';

const NOBODY: readonly Agent[] = [];

/** The agents that read a message now, in the order of their seats. */
function useAwake(): readonly Agent[] {
  const seats = useHousehold(({ roster }) => roster.seats);
  const state = useLive((now) => now);
  const { live } = state;
  if (!live) return NOBODY;
  return [...seats]
    .filter(([, { agentId }]) => live.awake.has(agentId) && !isPaused(state, agentId))
    .toSorted(([a], [b]) => a - b)
    .map(([, agent]) => agent);
}

/** `8 agents · about $0.11` */
function usePriceText(agents: readonly Agent[]): string {
  const rehearsing = useRehearsing();
  const costs = useWakeCosts(agents);
  const who = plural(agents.length, 'agent');
  if (rehearsing) return t`${who} · free in the demo`;
  const known = agents.map(({ agentId }) => costs.of(agentId)?.microUsd ?? null);
  if (agents.length === 0 || known.some((one) => one === null)) return who;
  return t`${who} · from ${money(known.reduce((sum: number, one) => sum + (one ?? 0), 0))}`;
}

function Answer({ agentId, clientId }: { agentId: AgentId; clientId: string }) {
  const roost = useRoost();
  const speaker = useSomebody(agentId);
  const messages = useStore(everyoneOf(roost).store, (state) => state.messages.get(agentId));
  const open = useAnswers((state) => openAnswerOf(state, agentId));
  const doing = useDoingNow(agentId);
  const answers = answersTo(clientId, agentId, messages ?? []);
  const last = answers.at(-1);
  const upTo = last ? wholeAt(last) : null;
  const { unread } = roost;
  useEffect(() => {
    const see = () => {
      if (upTo !== null && !document.hidden) unread.seen(agentId, upTo, answers.length);
    };
    see();
    document.addEventListener('visibilitychange', see);
    return () => document.removeEventListener('visibilitychange', see);
  }, [unread, agentId, upTo, answers.length]);
  if (speaker.kind === 'nobody') return null;
  const question = (messages ?? []).find((message) => message.clientId === clientId);
  // An answer that began before the question is to an earlier message.
  const growing = open && question && open.startedAt >= question.time ? open : undefined;
  return (
    <li className="everyone-answer pad-wide gap-4 stack narrow round ground-2 tint" style={{ '--c': speaker.color }}>
      <header className="line gap-4">
        <Face agentId={agentId} face={speaker.face} color={speaker.color} awake={speaker.awake} />
        <h3 className="text-4" dir="auto">
          {speaker.name}
        </h3>
        {doing && (
          <small className="end truncate">
            {doing.text} <Lasts from={doing.from} />
          </small>
        )}
      </header>
      <StepsOf value={agentId}>
        <div className="tall scroll msg-words">
          {answers.map((message) => (
            <ShownParts key={message.messageId} parts={partsOf(message.blocks)} />
          ))}
          {growing && <GrowingParts blocks={growing.blocks} />}
          {!growing && answers.length === 0 && (
            <p className="query-quiet ink-3 text-3">
              {speaker.awake ? t`Waits for its turn…` : t`Asleep. It reads this on waking.`}
            </p>
          )}
          {last?.error != null && <p className="wrong-note">{retold(last.error)}</p>}
        </div>
      </StepsOf>
      <Link href={PATHS.agent(agentId)}>{t`Answer ${speaker.name}`}</Link>
    </li>
  );
}

export default function EveryonePage({ onClose }: { onClose: () => void }) {
  const everyone = everyoneOf(useRoost());
  const asked = useStore(everyone.store, (state) => state.asked);
  const awake = useAwake();
  const price = usePriceText(awake);
  const [text, setText] = useState('');
  useEffect(() => everyone.view(), [everyone]);
  const words = text.trim();
  const isLong = words.length > LIMITS.messageText;
  const send = (event?: FormEvent) => {
    event?.preventDefault();
    if (words === '' || isLong || awake.length === 0) return;
    everyone.ask(
      words,
      awake.map(({ agentId }) => agentId),
    );
    setText('');
  };
  return (
    <div className="everyone page">
      <PageHead title={t`Ask everyone`} onClose={onClose} />
      <form className="everyone-form gap-4 stack" onSubmit={send}>
        <textarea
          className="field"
          dir="auto"
          rows={3}
          aria-label={t`Message to everyone who is awake`}
          placeholder={t`One question, an answer from each`}
          value={text}
          aria-invalid={isLong}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={(event) => {
            if (keyOf(event.nativeEvent) !== 'Enter' || event.shiftKey) return;
            event.preventDefault();
            send();
          }}
        />
        <div className="everyone-ways to-end line gap-5">
          <span className="chip-quiet figures ink-3 text-2">{awake.length === 0 ? t`Nobody is awake` : price}</span>
          <button type="submit" className="solid" disabled={words === '' || isLong || awake.length === 0}>
            {t`Ask`}
          </button>
        </div>
      </form>
      {asked && (
        <section aria-label={t`Answers`}>
          <blockquote className="indented above-6 under-5 ink-2" dir="auto">
            <PersonWords parts={[{ kind: 'text', text: asked.text }]} />
          </blockquote>
          <ul className="everyone-answers tiles gap-5 stack">
            {asked.each.map(({ agentId, clientId }) => (
              <Answer key={clientId} agentId={agentId} clientId={clientId} />
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
