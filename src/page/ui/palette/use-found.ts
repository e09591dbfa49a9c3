/** What the palette finds in projects: their names, their tasks and their files. */
import { useEffect, useMemo, useState } from 'react';
import { PROJECT_LIMITS } from '../../../shared/protocol/projects.ts';
import { createFind } from '../../state/find.ts';
import { problemText } from '../../state/ports.ts';
import { projectsOf } from '../../state/projects.ts';
import { SEARCH_AFTER_MS } from '../../state/task-search.ts';
import type { Around, Command } from '../commands/command.ts';
import { useRoost } from '../context.tsx';
import { useQuery } from '../hooks.ts';
import { PATHS } from '../routes.ts';
import { useNames } from '../use-somebody.ts';

interface Found {
  /** Projects as commands, which the palette filters by what is typed. */
  readonly projects: readonly Command[];
  /** Tasks and files that the relay has found. */
  readonly commands: readonly Command[];
  /** The relay has not answered yet. */
  readonly waits: boolean;
  /** Why the relay could not search; null: it could. */
  readonly problem: string | null;
}

/** `typed` empty: nothing is searched. */
export function useFound({ go }: Pick<Around, 'go'>, typed: string): Found {
  const roost = useRoost();
  const text = typed.trim().slice(0, PROJECT_LIMITS.search);
  const [askedText, setAsked] = useState('');
  useEffect(() => roost.device.after(SEARCH_AFTER_MS, () => setAsked(text)), [roost.device, text]);
  const query = useMemo(() => createFind(roost, askedText), [roost, askedText]);
  const state = useQuery(query);
  const list = useQuery(projectsOf(roost).list);
  const all = list.kind === 'ready' ? list.value : [];
  const agentNameOf = useNames();
  const nameOf = (projectId: string) => all.find((project) => project.projectId === projectId)?.name ?? '';
  const projects = all.map(({ projectId, name }): Command => ({
    ...{ id: `project ${projectId}`, group: 'projects', label: name, whenTyped: true },
    run: () => go(PATHS.project(projectId)),
  }));
  const isAnswered = text === askedText && state.kind !== 'loading';
  if (text === '' || !isAnswered || state.kind === 'failed')
    return {
      ...{ projects, commands: [], waits: text !== '' && !isAnswered },
      problem: text !== '' && isAnswered && state.kind === 'failed' ? problemText(state.problem) : null,
    };
  const tasks = state.value.tasks.map(({ projectId, taskId, number, title, columnId }): Command => {
    const column = all
      .find((project) => project.projectId === projectId)
      ?.columns.find((one) => one.columnId === columnId)?.name;
    return {
      ...{ id: `task ${taskId}`, group: 'tasks', label: `#${number} ${title}` },
      hint: [nameOf(projectId), column].filter((part) => part !== undefined && part !== '').join(' · '),
      run: () => go(PATHS.task(projectId, taskId)),
    };
  });
  const files = state.value.files.map((file): Command => {
    const { path } = file;
    const common = { group: 'files', label: path } as const;
    if (file.of === 'project') {
      const { projectId } = file;
      const run = () => go(PATHS.projectSettings(projectId));
      return { ...common, id: `file ${projectId} ${path}`, hint: nameOf(projectId), run };
    }
    const { agentId } = file;
    const run = () => go(PATHS.files(agentId, path.split('/').slice(0, -1).join('/')));
    return { ...common, id: `file ${agentId} ${path}`, hint: agentNameOf(agentId), run };
  });
  return { projects, commands: [...tasks, ...files], waits: false, problem: null };
}
