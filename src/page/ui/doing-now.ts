/**
 * What an agent does now, as a verb and a time. One function for every place that shows it (tile,
 * tooltip, accessible name, conversation) and for every kind of activity: in a session or a run, by
 * an ACP agent or an API client.
 */
import { useEffect } from 'react';
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import { useShallow } from 'zustand/react/shallow';
import type { AgentId } from '../../shared/domain/ids.ts';
import { t } from '../language/t.ts';
import type { ToolCall } from '../../shared/protocol/approvals.ts';
import { openAnswerOf } from '../state/answers.ts';
import { atWorkOf } from '../state/at-work.ts';
import { approvalsOf } from '../state/approvals.ts';
import { type ClientCall, isPaused } from '../state/live.ts';
import type { calling, Doing, doingOf } from './chat/doing.ts';
import type { NameOf } from './chat/tool-calls.ts';
import { useAnswers, useLive, useRoost } from './context.tsx';
import { useQuery } from './hooks.ts';
import { namedIn, useTeammates } from './use-somebody.ts';

export interface DoingNow {
  /**
   * `asks`: it is blocked until the person answers. `queued`: the model's server lets others go
   * first. `waits`: for someone or something else. `writes`: its words arrive now.
   */
  readonly mood: 'asks' | 'queued' | 'waits' | 'writes' | 'works';
  /** A verb and its object: “reading plan.md”. */
  readonly text: string;
  /** ms since the epoch. */
  readonly from: number;
}

export interface Facts {
  /** Its oldest call that waits for the person. */
  readonly asked: ToolCall | undefined;
  /** The agent was put to sleep, so its work is paused. */
  readonly paused: boolean;
  /** Its place in the queue of the model's server, 1 is next, and since when. */
  readonly place: { readonly at: number; readonly from: number } | undefined;
  /** Activity of its answer: in a session, in a run, or by an ACP agent. */
  readonly answer: Doing | null;
  /** Activity of an API client, and since when. */
  readonly client: Doing | null;
  /** Since when it has been at work in a run. */
  readonly aloneSince: number | undefined;
  /** The title of the task that it has claimed. */
  readonly task: string | undefined;
}

const placeText = (at: number): string => (at === 1 ? t`next in line` : t`number ${at} in line`);

/** What an agent does now; null: nothing. */
function doingNow({ asked, paused, place, answer, client, aloneSince, task }: Facts): DoingNow | null {
  if (asked) return { mood: 'asks', text: t`asks you`, from: asked.askedAt };
  if (paused) return null;
  if (place) return { mood: 'queued', text: placeText(place.at), from: place.from };
  const doing = answer ?? client;
  if (!doing && aloneSince === undefined) return null;
  const from = doing?.from ?? aloneSince ?? 0;
  if (doing?.waits) return { mood: 'waits', text: doing.text, from };
  if (doing?.step === 'writes') return { mood: 'writes', text: doing.text, from };
  if (doing?.step === 'calls') return { mood: 'works', text: doing.text, from };
  return { mood: 'works', text: task === undefined ? (doing?.text ?? t`at work`) : t`working on ${task}`, from };
}

interface Words {
  readonly calling: typeof calling;
  readonly doingOf: typeof doingOf;
}
/** The phrases of each tool. They are loaded once tiles are drawn, and not needed before. */
const wordsStore = createStore<{ readonly words: Words | null }>(() => ({ words: null }));
let fetching = false;

function useWords(): Words | null {
  useEffect(() => {
    if (fetching) return;
    fetching = true;
    import('./chat/doing.ts').then(
      (words) => wordsStore.setState({ words }),
      // The next tile tries again. Until then it shows that its agent is working.
      () => (fetching = false),
    );
  }, []);
  return useStore(wordsStore, ({ words }) => words);
}

/** Until the phrases are loaded. */
const AT_WORK = { step: 'thinks', text: t`at work`, waits: false } as const;

function clientDoing({ tool, input, since: from }: ClientCall, words: Words | null, nameOf: NameOf): Doing {
  if (tool === null) return { step: 'thinks', text: t`thinking`, from, waits: false };
  return { ...(words?.calling({ name: tool, input }, nameOf) ?? AT_WORK), from };
}

/** Takes an agent's or egg's id; null: no agent. */
export function useDoingNow(agentId: AgentId | null): DoingNow | null {
  const roost = useRoost();
  const approvals = useQuery(approvalsOf(roost).approvals);
  const nameOf = namedIn(useTeammates());
  const words = useWords();
  // Each new word changes the answer, but rarely the description.
  const answer = useAnswers(
    useShallow((state) => {
      const open = agentId === null ? undefined : openAnswerOf(state, agentId);
      if (!open) return null;
      return words ? words.doingOf(open, nameOf) : { ...AT_WORK, from: open.startedAt };
    }),
  );
  const at = useLive((state) => (agentId === null ? undefined : state.positions.get(agentId)));
  const call = useLive((state) => (agentId === null ? undefined : state.clientCalls.get(agentId)));
  const client = call ? clientDoing(call, words, nameOf) : null;
  const aloneSince = useLive((state) => (agentId === null ? undefined : state.working.get(agentId)));
  const tasks = useStore(atWorkOf(roost).store);
  const task = tasks.kind === 'ready' && agentId !== null ? tasks.value.get(agentId)?.card.title : undefined;
  const paused = useLive((state) => agentId !== null && isPaused(state, agentId));
  // Without a connection to the relay, activity is unknown.
  const heard = useLive((state) => state.link.kind === 'live');
  if (agentId === null || !heard) return null;
  const waiting = approvals.kind === 'ready' ? approvals.value.waiting : [];
  const asked = waiting.find((call) => call.agentId === agentId);
  const place = at === undefined ? undefined : { at, from: answer?.from ?? roost.device.now() };
  return doingNow({ asked, paused, place, answer, client, aloneSince, task });
}
