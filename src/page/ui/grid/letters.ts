/**
 * A small letter moves from tile to tile when one agent writes to another. It is only decoration,
 * so it works outside of React, and is loaded after the page is painted.
 */
import { isRecord } from '../../../shared/domain/platform/json.ts';
import { LEAD_ID, LEAD_POSITION, type Position } from '../../../shared/domain/seat.ts';
import type { RoostEvent } from '../../../shared/protocol/events.ts';
import type { RoostState } from '../../state/index.ts';

/** ms of the way, and most letters at once. */
const WAY_MS = 1_100;
const MOST = 8;

const ENVELOPE =
  '<svg viewBox="0 0 12 9" width="24" height="18"><path d="M0 0h12v9H0z" fill="var(--ink)"/><path d="M1 1l5 4 5-4" fill="none" stroke="var(--ground-1)"/></svg>';

/** `list`: the grid, with a child for each position. Returns a function that stops it. */
export function watchLetters(list: HTMLElement, roost: RoostState): () => void {
  function tileOf(agentId: string): Element | undefined {
    const { roster } = roost.household.store.getState();
    const position: Position | undefined =
      agentId === LEAD_ID ? LEAD_POSITION : [...roster.seats].find(([, agent]) => agent.agentId === agentId)?.[0];
    return position === undefined ? undefined : list.children[position];
  }
  function send(from: Element, to: Element): void {
    const [here, there, box] = [from, to, list].map((each) => each.getBoundingClientRect());
    if (!here || !there || !box || list.querySelectorAll('.letter').length >= MOST) return;
    const letter = document.createElement('li');
    letter.className = 'letter';
    // The way is measured from the left in every language.
    letter.style.left = '0';
    letter.setAttribute('role', 'presentation');
    letter.setAttribute('aria-hidden', 'true');
    letter.innerHTML = ENVELOPE;
    const at = (rect: DOMRect) => [
      rect.left - box.left + rect.width / 2 - 12,
      rect.top - box.top + rect.height / 2 - 9,
    ];
    const [[x = 0, y = 0], [toX = 0, toY = 0]] = [at(here), at(there)];
    list.append(letter);
    const lift = Math.min(y, toY) - 34;
    void letter
      .animate(
        [
          { transform: `translate(${x}px, ${y}px) scale(0.4)`, opacity: 0 },
          { transform: `translate(${x}px, ${y - 10}px) scale(1)`, opacity: 1, offset: 0.15 },
          { transform: `translate(${(x + toX) / 2}px, ${lift}px) scale(1.15)`, opacity: 1, offset: 0.55 },
          { transform: `translate(${toX}px, ${toY}px) scale(0.5)`, opacity: 0 },
        ],
        { duration: WAY_MS, easing: 'ease-in-out' },
      )
      .finished.catch(() => undefined)
      .finally(() => letter.remove());
  }
  const idOf = (name: unknown) => {
    const { roster } = roost.household.store.getState();
    return [roster.lead, ...roster.byId.values()].find(
      (agent) => agent && [agent.agentId, agent.name].includes(String(name)),
    )?.agentId;
  };
  /** Ways of letters that went as they were written: none goes when they are read. */
  const written: string[] = [];
  /** Sender and recipient of a letter in this event; null: it is none. */
  function wayOf(event: RoostEvent): readonly [string, string] | null {
    if (event.kind === 'tool') {
      const { block, messageId } = event;
      const from = roost.answers.store.getState().open.get(messageId)?.agentId;
      if (block.kind !== 'tool' || block.name !== 'message_agent' || block.result === null || block.isError || !from)
        return null;
      const to = idOf(isRecord(block.input) ? block.input['to'] : null);
      if (to === undefined) return null;
      written.push(`${from} ${to}`);
      return [from, to];
    }
    if (event.kind !== 'message') return null;
    const at = written.indexOf(`${event.author} ${event.agentId}`);
    if (at === -1) return [event.author, event.agentId];
    written.splice(at, 1);
    return null;
  }
  return roost.dataWorker.subscribe((news) => {
    if (news.news !== 'event') return;
    const way = wayOf(news.stored.event);
    if (way === null || document.hidden || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    const [from, to] = way.map(tileOf);
    if (from && to && from !== to) send(from, to);
  });
}
