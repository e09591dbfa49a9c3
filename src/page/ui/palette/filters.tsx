import { t } from '../../language/t.ts';
import type { SearchKind, SearchQuery } from '../../../shared/protocol/search.ts';
import type { Teammates } from '../use-teammates.ts';

export type Filters = Pick<SearchQuery, 'agentId' | 'threadId' | 'author' | 'kinds' | 'since'>;

const DAY = 24 * 60 * 60 * 1_000;
/** Days back, by the words for them. */
const SPANS = [
  [1, t`Since yesterday`],
  [7, t`In the last week`],
  [30, t`In the last month`],
  [365, t`In the last year`],
] as const;

/** Kinds that are looked for together, by the words for them. */
const KINDS: readonly (readonly [readonly SearchKind[], string])[] = [
  [['message'], t`In conversations`],
  [['thread-message', 'thread'], t`In threads`],
  [['soul'], t`In souls`],
  [['schedule'], t`In routines and reminders`],
];

/** No agent's id. */
const IN_THREAD = 'thread:';

/**
 * Holds what is found to one agent, one voice, one kind, or a time. `today`: midnight, in ms since
 * the epoch.
 */
export function FilterRow({
  value,
  team,
  today,
  onChange,
}: {
  value: Filters;
  team: Teammates;
  today: number;
  onChange: (value: Filters) => void;
}) {
  const people = team.all.map(({ agentId, name }) => (
    <option key={agentId} value={agentId}>
      {name}
    </option>
  ));
  return (
    <div className="palette-filters" role="group" aria-label={t`Which messages`}>
      <select
        aria-label={t`With whom`}
        value={value.threadId === undefined ? (value.agentId ?? '') : IN_THREAD}
        onChange={({ target }) => onChange({ ...value, threadId: undefined, agentId: target.value || undefined })}
      >
        {value.threadId !== undefined && <option value={IN_THREAD}>{t`In this thread`}</option>}
        <option value="">{t`With anybody`}</option>
        {people}
      </select>
      <select
        aria-label={t`Said by`}
        value={value.author ?? ''}
        onChange={({ target }) => onChange({ ...value, author: target.value || undefined })}
      >
        <option value="">{t`Said by anybody`}</option>
        <option value="human">{t`Said by you`}</option>
        {people}
      </select>
      <select
        aria-label={t`Where`}
        value={value.kinds?.[0] ?? ''}
        onChange={({ target }) => onChange({ ...value, kinds: KINDS.find(([[first]]) => first === target.value)?.[0] })}
      >
        <option value="">{t`Anywhere`}</option>
        {KINDS.map(([kinds, label]) => (
          <option key={kinds[0]} value={kinds[0]}>
            {label}
          </option>
        ))}
      </select>
      <select
        aria-label={t`When`}
        value={value.since ?? ''}
        onChange={({ target }) => onChange({ ...value, since: target.value === '' ? undefined : Number(target.value) })}
      >
        <option value="">{t`At any time`}</option>
        {SPANS.map(([days, label]) => (
          <option key={days} value={today - days * DAY}>
            {label}
          </option>
        ))}
      </select>
    </div>
  );
}
