/** What an agent's mind is: the connected models, or an ACP agent of the relay's machine. */
import { Link } from 'wouter';
import { t } from '../../language/t.ts';
import { withCoordination } from '../../state/limits.ts';
import { programsOf } from '../../state/programs.ts';
import { useRoost } from '../context.tsx';
import { PATHS } from '../routes.ts';
import { useQuery } from '../use-query.ts';
import { useLimits } from './context.tsx';
import { Inherited } from './inherited.tsx';

const MODELS = t`The connected models`;

export function MindChoice() {
  const { own, effective, base, scope, change } = useLimits();
  const known = useQuery(programsOf(useRoost()).list);
  const programs = known.kind === 'ready' ? known.value.programs : [];
  const nameOf = (programId: string | null) =>
    programId === null
      ? MODELS
      : (programs.find((program) => program.programId === programId)?.name ?? t`A program that is not there any more`);
  return (
    <Inherited<string | null>
      label={scope === 'agent' ? t`Its mind` : t`The mind of agents`}
      hint={t`An ACP agent, such as Claude Code, works with its own tools; soul, memory, limits and questions stay Roost’s. It holds from its next turn on.`}
      own={own.mind}
      effective={effective.mind}
      base={base.mind}
      save={(value) => change((coordination) => withCoordination(coordination, 'mind', value))}
      wordOf={nameOf}
    >
      {({ id, describedBy, value, set }) => (
        <div className="setting-row">
          <label htmlFor={id}>{scope === 'agent' ? t`Its mind` : t`The mind of agents`}</label>
          <select
            id={id}
            className="field"
            aria-describedby={describedBy}
            value={value ?? ''}
            onChange={({ target }) => set(target.value === '' ? null : target.value)}
          >
            <option value="">{MODELS}</option>
            {value !== null && !programs.some(({ programId }) => programId === value) && (
              <option value={value}>{nameOf(value)}</option>
            )}
            {programs.map(({ programId, name }) => (
              <option key={programId} value={programId}>
                {name}
              </option>
            ))}
          </select>
          <Link href={PATHS.settings('programs')}>{t`ACP agents`}</Link>
        </div>
      )}
    </Inherited>
  );
}
