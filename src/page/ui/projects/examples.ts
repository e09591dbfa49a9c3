/** Example projects for a first start. Nobody may work on them until the person says so. */
import type { createProjectSchema, createTaskSchema } from '../../../shared/protocol/projects.ts';
import type { z } from 'zod';
import { t } from '../../language/t.ts';

export type Example = z.input<typeof createProjectSchema> & {
  readonly tasks: readonly z.input<typeof createTaskSchema>[];
};

const criteria = (...texts: readonly string[]) => texts.map((text) => ({ text }));

const TRIP = (): Example => ({
  name: t`Plan our trip`,
  instructions: t`We are two adults and a child of seven. We travel by train for five days in spring, and want to spend at most 900 € in all. Write down where every price and every time comes from.`,
  tasks: [
    {
      title: t`Find three places that fit`,
      description: t`Each can be reached by train within eight hours, and has something for a child of seven.`,
      criteria: criteria(
        t`Three places, each with the journey there in hours`,
        t`What each costs for the three of us`,
        t`One thing in each that a child would like`,
      ),
      priority: 'high',
      labels: [t`research`],
      columnId: 'ready',
    },
    {
      title: t`Compare trains and where to sleep`,
      criteria: criteria(t`Two connections there and back, with prices`, t`Three places to sleep, with prices`),
      labels: [t`research`],
    },
    {
      title: t`Write a plan for the five days`,
      criteria: criteria(
        t`Every day has one thing to do, and one for rain`,
        t`No day needs more than an hour of travel`,
      ),
      labels: [t`writing`],
    },
  ],
});

/** In display order. */
export const EXAMPLES: readonly {
  readonly title: string;
  readonly about: string;
  /** null: the person is asked where the repository is. */
  readonly example: (() => Example) | null;
}[] = [
  { title: t`Plan our trip`, about: t`Three tasks, each with what makes it done`, example: TRIP },
  {
    title: t`A repository`,
    about: t`Agents work on branches, and you merge what is good`,
    example: null,
  },
  {
    title: t`An empty board`,
    about: t`You write the tasks`,
    example: () => ({ name: t`My project`, instructions: '', tasks: [] }),
  },
];
