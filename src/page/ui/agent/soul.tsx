/** An agent's soul and its earlier versions. */
import { useState } from 'react';
import { t } from '../../language/t.ts';
import type { AgentIdentityDoc, AgentChangeDoc } from '../../../shared/protocol/documents.ts';
import { parseStamp } from '../../../shared/domain/stamp.ts';
import { useRoost } from '../context.tsx';
import { Words } from '../chat/markdown.tsx';
import { copyText } from '../parts/copyable-text.tsx';
import { CopyIcon } from '../design/more-icons.tsx';
import './agent.css';

/**
 * Characters from which a soul beside a conversation is collapsed, so that the content below it is
 * found.
 */
const LONG_SOUL = 900;

/** A text that was valid from `time` on, ms since the epoch. `key` 'first': since the birth. */
export interface Kept {
  readonly key: string;
  readonly time: number;
  readonly text: string;
}

const timeOf = (change: AgentChangeDoc) => parseStamp(change.at)?.time ?? 0;

/** The identity of an agent: the earliest, if two devices wrote one. */
export const birthOf = (identities: Iterable<AgentIdentityDoc>, agentId: string): AgentIdentityDoc | null =>
  [...identities].filter((doc) => doc.agentId === agentId).sort((a, b) => a.bornAt - b.bornAt)[0] ?? null;

/** All versions of a soul, newest first. `changes`: of this agent, oldest first. */
export function soulsOf(birth: AgentIdentityDoc | null, changes: readonly AgentChangeDoc[]): Kept[] {
  const first = birth?.individuationArtifact ?? '';
  const later = changes.flatMap((doc) =>
    doc.change.kind === 'soul' ? [{ key: doc._id, time: timeOf(doc), text: doc.change.individuationArtifact }] : [],
  );
  const all = [...(birth && first !== '' ? [{ key: 'first', time: birth.bornAt, text: first }] : []), ...later];
  return all.filter((item, i) => item.text !== all[i - 1]?.text).reverse();
}

/** Its names, oldest first. `changes` as above. */
export function namesOf(birth: AgentIdentityDoc | null, changes: readonly AgentChangeDoc[]): Kept[] {
  const later = changes.flatMap((doc) =>
    doc.change.kind === 'rename' ? [{ key: doc._id, time: timeOf(doc), text: doc.change.name }] : [],
  );
  const all = [...(birth ? [{ key: 'first', time: birth.bornAt, text: birth.name }] : []), ...later];
  return all.filter((item, i) => item.text !== all[i - 1]?.text);
}

/** `folds`: a long text is collapsed at first. */
export function Soul({ text, name, folds }: { text: string; name: string; folds: boolean }) {
  const state = useRoost();
  const [whole, setWhole] = useState(!folds);
  const long = folds && text.length > LONG_SOUL;
  return (
    <div className="soul-block">
      <h3>
        <span>{t`Soul`}</span>
        {text !== '' && (
          <button
            type="button"
            className="icon-button"
            aria-label={t`Copy soul`}
            title={t`Copy`}
            onClick={() => void copyText(state, text, t`Soul`)}
          >
            <CopyIcon />
          </button>
        )}
      </h3>
      {text === '' ? (
        <p className="ink-3">{t`${name} has not written one yet. It comes in a quiet moment of a session.`}</p>
      ) : (
        <blockquote className="soul from-6 break" data-folded={long && !whole}>
          <Words text={text} />
        </blockquote>
      )}
      {long && (
        <button
          type="button"
          className="link-button above-4 text-2"
          aria-expanded={whole}
          onClick={() => setWhole(!whole)}
        >
          {whole ? t`Show less` : t`Show more`}
        </button>
      )}
    </div>
  );
}
