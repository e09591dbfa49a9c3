import { t } from '../../language/t.ts';
import { SCOPES, type Scope } from '../../../shared/protocol/scopes.ts';

/** What each scope lets an application do, as the person ticks it. */
export function scopeText(scope: Scope): string {
  switch (scope) {
    case 'team':
      return t`See the names and seats of your agents`;
    case 'read':
      return t`See limits, routines, the timeline and what became of runs, with their last words`;
    case 'sleep':
      return t`Put agents of the running session to sleep`;
    case 'wake':
      return t`Wake agents, within their limits. Their answers cost money`;
    case 'threads':
      return t`Open threads under its own name, and read and write in those. Agents that it names there may be woken, within their limits. Other threads stay hidden`;
    case 'sessions':
      return t`Start a session without you, and end that one. For that your agents and the lead leave their souls and last conversations with the relay, sealed, as for routines`;
    case 'schedules':
      return t`Set, change and start routines and reminders, which run and cost money without you. Never scripts`;
    case 'limits':
      return t`Change how often and when agents may be woken. Never what they may do, or their budgets`;
  }
}

/** A short name of each, for a list. */
export function scopeName(scope: Scope): string {
  switch (scope) {
    case 'team':
      return t`names`;
    case 'read':
      return t`limits and timeline`;
    case 'sleep':
      return t`put to sleep`;
    case 'wake':
      return t`wake`;
    case 'threads':
      return t`threads`;
    case 'sessions':
      return t`start sessions`;
    case 'schedules':
      return t`set routines`;
    case 'limits':
      return t`set limits`;
  }
}

export function ScopeTicks({
  chosen,
  onChange,
}: {
  chosen: readonly Scope[];
  onChange: (scopes: readonly Scope[]) => void;
}) {
  return (
    <fieldset className="scopes">
      <legend>{t`It may`}</legend>
      {SCOPES.map((scope) => (
        <label key={scope} className="tick-line">
          <input
            type="checkbox"
            checked={chosen.includes(scope)}
            onChange={(event) =>
              onChange(SCOPES.filter((each) => (each === scope ? event.target.checked : chosen.includes(each))))
            }
          />
          {scopeText(scope)}
        </label>
      ))}
    </fieldset>
  );
}
