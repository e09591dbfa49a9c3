/** Mentions as chips, in what a person wrote and in an agent's Markdown. */
import { createContext, use, type ReactNode } from 'react';
import { Link } from 'wouter';
import { PATHS } from '../routes.ts';
import type { Teammate } from '../use-teammates.ts';
import { piecesOf } from '../../../shared/domain/mentions.ts';
import type { ShownPart } from './parts.ts';

/** Those whom the message mentions. */
export const Mentioned = createContext<readonly Teammate[]>([]);

export function Chip({ who, text = `@${who.name}` }: { who: Teammate; text?: string }) {
  return (
    <Link href={PATHS.agent(who.agentId)} className="mention tint" style={{ '--c': who.color }} dir="auto">
      {text}
    </Link>
  );
}

/** Text as it stands, mentions as chips. */
export function WithChips({ text }: { text: string }): ReactNode {
  const among = use(Mentioned);
  if (among.length === 0) return text;
  return piecesOf(text, among).map((piece, i) => {
    const who = piece.kind === 'mention' ? among.find(({ agentId }) => agentId === piece.agentId) : undefined;
    // Pieces of one text never move: a piece's place is its identity.
    return who ? <Chip key={i} who={who} text={piece.text} /> : <span key={i}>{piece.text}</span>;
  });
}

/** A row's share of what a person wrote, exactly as it was written. */
export function PersonWords({ parts }: { parts: readonly ShownPart[] }) {
  return parts.map((part, i) =>
    part.kind === 'text' && part.text !== '' ? (
      <p key={i} className="plain" dir="auto">
        <WithChips text={part.text} />
      </p>
    ) : null,
  );
}
