/**
 * Talking without hands: it listens, sends after a pause, reads the answer aloud, and is
 * interrupted by the person's voice.
 */
import { useEffect, useRef, useState } from 'react';
import { spoken, t } from '../../language/t.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { textOf } from '../../../shared/domain/text-of.ts';
import { withoutThinking } from '../../../shared/domain/thinking.ts';
import { useActions, useConversations, useRoost } from '../context.tsx';
import { MicIcon } from '../design/more-icons.tsx';
import { type Conversing, converse, LISTENING, type VoiceEvent } from './conversing.ts';
import { setHandsFree } from './support.ts';
import { hush, readAloud } from './read-aloud.ts';
import { type Recognition, recognitionOf } from './support.ts';
import './dictate.css';

/** ms without a word, after which the words are sent. */
const PAUSE_MS = 1_600;
/** ms before a recogniser that has ended listens again. */
const AGAIN_MS = 250;

interface Heard {
  readonly resultIndex: number;
  readonly results: ArrayLike<{ readonly isFinal: boolean; readonly 0?: { readonly transcript: string } }>;
}

/** Listens until it is stopped. Browsers end a recogniser after a silence, so it is begun again. */
function listen(onEvent: (event: VoiceEvent) => void, onRefused: () => void): () => void {
  const Recognizer = recognitionOf();
  if (!Recognizer) return () => undefined;
  let isOver = false;
  let current: Recognition | null = null;
  let pause: ReturnType<typeof setTimeout> | undefined;
  const begin = () => {
    if (isOver) return;
    const recognizer = new Recognizer();
    recognizer.lang = spoken.language === 'en' ? navigator.language : spoken.locale;
    recognizer.continuous = true;
    recognizer.interimResults = true;
    recognizer.addEventListener('result', (event) => {
      const { resultIndex, results } = event as Event & Heard;
      clearTimeout(pause);
      pause = setTimeout(() => onEvent({ kind: 'pause' }), PAUSE_MS);
      for (const result of Array.from(results).slice(resultIndex)) {
        const text = (result[0]?.transcript ?? '').trim();
        if (text !== '') onEvent({ kind: result.isFinal ? 'heard' : 'hearing', text });
      }
    });
    recognizer.addEventListener('error', (event) => {
      const { error } = event as Event & { readonly error: string };
      if (error === 'not-allowed' || error === 'service-not-allowed' || error === 'audio-capture') onRefused();
    });
    recognizer.addEventListener('end', () => setTimeout(begin, AGAIN_MS));
    current = recognizer;
    recognizer.start();
  };
  begin();
  return () => {
    isOver = true;
    clearTimeout(pause);
    current?.abort();
  };
}

function stateText(state: Conversing, name: string): string {
  switch (state.kind) {
    case 'listening':
      return state.heard === '' ? t`Listening…` : state.heard;
    case 'waiting':
      return t`${name} is answering…`;
    case 'speaking':
      return t`Reading aloud. Speak to interrupt.`;
  }
}

/** The bar above the composer while it is on. */
export default function HandsFree({ agentId, name }: { agentId: AgentId; name: string }) {
  const roost = useRoost();
  const actions = useActions();
  const [state, setState] = useState<Conversing>(LISTENING);
  const current = useRef<Conversing>(LISTENING);
  const dispatch = useRef<(event: VoiceEvent) => void>(() => undefined);
  useEffect(() => {
    dispatch.current = (event) => {
      const { state: next, act } = converse(current.current, event);
      current.current = next;
      setState(next);
      if (act?.kind === 'send') void actions.send(agentId, act.text);
      else if (act?.kind === 'hush') hush();
      else if (act?.kind === 'speak')
        void readAloud(roost, agentId, name, act.text).then(() => dispatch.current({ kind: 'spoken' }));
    };
  }, [actions, roost, agentId, name]);
  useEffect(() => {
    const stop = listen(
      (event) => dispatch.current(event),
      () => {
        roost.notices.error(t`The microphone is not allowed. Allow it in the browser’s settings.`);
        setHandsFree(null);
      },
    );
    return () => {
      stop();
      hush();
    };
  }, [roost]);
  // Reads aloud only what the agent says from now on.
  const last = useConversations((all) => all.byAgent.get(agentId)?.messages.at(-1));
  const read = useRef(last?.messageId);
  useEffect(() => {
    if (!last || last.messageId === read.current) return;
    read.current = last.messageId;
    if (last.author === agentId) dispatch.current({ kind: 'answered', text: withoutThinking(textOf(last.blocks)) });
  }, [last, agentId]);
  return (
    <section className="hands-free" aria-label={t`Hands-free`} data-state={state.kind}>
      <MicIcon />
      <p className="truncate fill" role="status" dir="auto">
        {stateText(state, name)}
      </p>
      <button type="button" className="ghost" onClick={() => setHandsFree(null)}>{t`Stop`}</button>
    </section>
  );
}
