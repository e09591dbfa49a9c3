/** Allows the commands of a whole project, from a question about one of them. */
import type { ProjectId } from '../../../shared/domain/ids.ts';
import type { ToolCall } from '../../../shared/protocol/approvals.ts';
import { t } from '../../language/t.ts';
import { approvalsOf } from '../../state/approvals.ts';
import { type Outcome, type ProjectFields, projectsOf } from '../../state/projects.ts';
import type { Project } from '../../../shared/protocol/projects.ts';
import { useRoost } from '../context.tsx';
import { useAction } from '../design/use-action.ts';
import { useQuery } from '../hooks.ts';

interface Props {
  readonly call: ToolCall;
  readonly projectId: ProjectId;
  /** The request has just changed, and the person must see it first. */
  readonly disabled: boolean;
}

/** Says yes to this command, and to all later ones of the project, in the sandbox. */
export function AllowInProject({ call, projectId, disabled }: Props) {
  const roost = useRoost();
  const { notices } = roost;
  const projects = projectsOf(roost);
  const list = useQuery(projects.list);
  const { busy, act } = useAction();
  const project = list.kind === 'ready' ? list.value.find((one) => one.projectId === projectId) : undefined;
  if (!project) return null;
  const set = async (base: Project, commands: ProjectFields['commands']): Promise<Outcome<Project>> => {
    const changed = await projects.change(base, { commands });
    if (!changed.ok) notices.error(t`Could not save this. ${changed.reason}`);
    return changed;
  };
  const allow = () =>
    act(async () => {
      const changed = await set(project, 'sandbox');
      if (!changed.ok) return;
      notices.info(t`Agents now run commands in ${project.name} without asking.`, {
        label: t`Undo`,
        run: () => void set(changed.value, project.commands),
      });
      await approvalsOf(roost).answer(call, 'once', '');
    });
  return (
    <button
      type="button"
      className="ghost"
      title={t`Agents then run commands in its sandbox without asking`}
      disabled={disabled || busy}
      onClick={allow}
    >
      {t`Allow in ${project.name}`}
    </button>
  );
}
