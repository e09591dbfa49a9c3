/** The form of a new project: a shared folder, or a repository. */
import { type FormEvent, useId, useRef, useState } from 'react';
import { DEFAULT_COLUMNS, type Column } from '../../../shared/domain/projects.ts';
import { ATTEMPT_LIMITS, type CommandGrant } from '../../../shared/protocol/attempts.ts';
import { type Project, PROJECT_LIMITS } from '../../../shared/protocol/projects.ts';
import { t } from '../../language/t.ts';
import { projectsOf } from '../../state/projects.ts';
import { useRoost } from '../context.tsx';
import { Dialog } from '../design/dialog.tsx';
import { ChoiceCards } from '../design/one-of.tsx';
import { PATHS, useRoute } from '../routes.ts';
import type { Example } from './examples.ts';
import { CommandChoice } from './command-choice.tsx';
import { AgentChoices } from './project-settings.tsx';
import { useTeammates } from '../use-somebody.ts';
import { BaseBranch } from './work-settings.tsx';
import { KIND_NAMES } from './words.ts';
import { WrongNote } from '../design/field.tsx';
import { useAction } from '../design/use-action.ts';

/** The columns of a new project, in the language of the page. */
const ownColumns = (): Column[] => DEFAULT_COLUMNS.map((column) => ({ ...column, name: KIND_NAMES[column.kind] }));

/** Agents that can be chosen. All of them may work on a new project. */
const useEverybody = () =>
  useTeammates()
    .all.filter(({ retired }) => !retired)
    .map(({ agentId }) => agentId);

/** Creates a project and opens it. */
export function useBegin() {
  const projects = projectsOf(useRoost());
  const { go } = useRoute();
  const { busy, failed, act } = useAction();
  /** The field that the relay refused; null: none of them. */
  const [field, setField] = useState<string | null>(null);
  const begin = ({ tasks, ...project }: Example, onRefused?: () => void) =>
    act(async () => {
      const made = await projects.create({ ...project, columns: ownColumns() }, tasks);
      if (made.ok) return go(PATHS.project(made.value.projectId));
      setField(made.field ?? null);
      onRefused?.();
      return made;
    });
  return { busy, failed, field, begin };
}

const KINDS: readonly { readonly value: Project['kind']; readonly title: string; readonly about: string }[] = [
  { value: 'folder', title: t`A shared folder`, about: t`Agents work in copies, and you merge what is good` },
  { value: 'git', title: t`A repository`, about: t`Agents work on branches, and you merge what is good` },
];

export function NewDialog({ kind: first = 'folder', onClose }: { kind?: Project['kind']; onClose: () => void }) {
  const { busy, failed, field, begin } = useBegin();
  const [name, setName] = useState('');
  const [kind, setKind] = useState(first);
  const [repository, setRepository] = useState('');
  const [baseBranch, setBaseBranch] = useState('');
  const [instructions, setInstructions] = useState('');
  const everybody = useEverybody();
  const [agents, setAgents] = useState(everybody);
  const [commands, setCommands] = useState<CommandGrant>('sandbox');
  const [tried, setTried] = useState(false);
  const id = useId();
  const place = useRef<HTMLInputElement>(null);
  const isGit = kind === 'git';
  const wrongName = name.trim() === '' ? t`It needs a name.` : null;
  const wrongPlace = isGit && repository.trim() === '' ? t`Fill this in.` : null;
  const refusedPlace = field === 'repository' ? failed : null;
  const wrongOfPlace = (tried ? wrongPlace : null) ?? refusedPlace;
  const create = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (wrongName !== null || wrongPlace !== null) return;
    const wanted = {
      ...{ name: name.trim(), instructions, agents: [...agents], tasks: [] },
      ...(isGit ? { kind, repository: repository.trim(), baseBranch, commands } : {}),
    };
    begin(wanted, () => place.current?.focus());
  };
  const wrongBelow =
    (tried ? wrongName : null) ?? (failed !== null && refusedPlace === null ? t`Could not do this. ${failed}` : null);
  return (
    <Dialog title={t`New project`} onClose={onClose}>
      <form className="project-form stack gap-6" noValidate onSubmit={create}>
        <label className="stack gap-3">
          <span className="ink-2 text-2">{t`Name`}</span>
          <input
            className="field"
            dir="auto"
            autoComplete="off"
            maxLength={PROJECT_LIMITS.name}
            value={name}
            aria-invalid={tried && wrongName !== null}
            onChange={({ target }) => setName(target.value)}
          />
        </label>
        <ChoiceCards legend={t`What they work on`} options={KINDS} value={kind} onChange={setKind}>
          {isGit && (
            <div className="project-repository above-5 stack gap-3">
              <label className="stack gap-3">
                <span className="ink-2 text-2">{t`Repository`}</span>
                <input
                  ref={place}
                  className="field"
                  dir="ltr"
                  autoComplete="off"
                  spellCheck={false}
                  maxLength={ATTEMPT_LIMITS.repository}
                  placeholder="https://github.com/you/project.git"
                  value={repository}
                  aria-invalid={wrongOfPlace !== null}
                  aria-describedby={`${id}-place`}
                  onChange={({ target }) => setRepository(target.value)}
                />
              </label>
              {wrongOfPlace === null ? (
                <p id={`${id}-place`} className="setting-hint">
                  {t`An https:// address, or a path on the relay’s computer`}
                </p>
              ) : (
                <p id={`${id}-place`} className="field-wrong text-2 break danger" role="alert">
                  {wrongOfPlace}
                </p>
              )}
              <BaseBranch value={baseBranch} onChange={setBaseBranch} />
              <CommandChoice chosen={commands} onChange={setCommands} />
            </div>
          )}
        </ChoiceCards>
        <label className="stack gap-3">
          <span className="ink-2 text-2">{t`Instructions for agents (optional)`}</span>
          <textarea
            className="field"
            rows={4}
            dir="auto"
            maxLength={PROJECT_LIMITS.text}
            value={instructions}
            onChange={({ target }) => setInstructions(target.value)}
          />
        </label>
        <AgentChoices chosen={agents} onChange={(chosen) => setAgents([...chosen])} />
        <WrongNote text={wrongBelow} />
        <div className="dialog-ways">
          <button type="button" className="ghost" onClick={onClose}>{t`Cancel`}</button>
          <button type="submit" className="solid" disabled={busy}>
            {busy ? t`Working…` : t`Create`}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
