/**
 * Calls of the kernel that nothing in the sandbox may make: those that reach what has no namespace (keys, other machines by
 * VSOCK, tracing, clocks), and those that a way out would begin with. A program for `seccomp(2)`, as `bwrap --seccomp` reads it.
 */
import { endianness } from 'node:os';

/** By architecture: its mark in `seccomp_data`, the number of `socket`, and of what is refused (asm/unistd.h). */
const MACHINES = {
  x64: {
    mark: 0xc000_003e,
    socket: 41,
    // keys; tracing and bpf; io_uring; modules and kexec; mounts; handles; namespaces; swap, power, log, quotas, ports, clock
    refused: [
      248, 249, 250, 298, 321, 323, 425, 426, 427, 175, 176, 313, 246, 320, 155, 165, 166, 428, 429, 430, 431, 432, 433,
      442, 303, 304, 272, 308, 163, 167, 168, 169, 103, 172, 173, 179, 227,
    ],
  },
  arm64: {
    mark: 0xc000_00b7,
    socket: 198,
    refused: [
      217, 218, 219, 241, 280, 282, 425, 426, 427, 105, 106, 273, 104, 294, 41, 40, 39, 428, 429, 430, 431, 432, 433,
      442, 264, 265, 97, 268, 89, 224, 225, 142, 116, 60, 112,
    ],
  },
} as const;

/** Unix, IPv4, IPv6 and netlink, all within its own empty network. VSOCK has no namespace: it would reach the machine below. */
const FAMILIES = [1, 2, 10, 16];

const [LOAD, EQUAL, AT_LEAST, RETURN] = [0x20, 0x15, 0x35, 0x06];
const [NUMBER, MARK, FIRST_ARGUMENT] = [0, 4, 16];
const [KILL, ALLOW] = [0x8000_0000, 0x7fff_0000];
const errno = (number: number) => 0x0005_0000 | number;
const [EPERM, ENOSYS, EAFNOSUPPORT] = [1, 38, 97];
/** Numbers from here on are calls of the other pointer size. */
const X32 = 0x4000_0000;

/** Code, jump where true, jump where false, operand. */
type Step = readonly [number, number, number, number];

/** Null: for this architecture there is none. */
export function seccompProgram(machine: string): Buffer | null {
  if ((machine !== 'x64' && machine !== 'arm64') || endianness() !== 'LE') return null;
  const { mark, socket, refused } = MACHINES[machine];
  const steps: Step[] = [
    [LOAD, 0, 0, MARK],
    [EQUAL, 1, 0, mark],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, NUMBER],
    [AT_LEAST, 0, 1, X32],
    [RETURN, 0, 0, errno(ENOSYS)],
    ...refused.flatMap((number): Step[] => [
      [EQUAL, 0, 1, number],
      [RETURN, 0, 0, errno(EPERM)],
    ]),
    // To the last step where it is another call.
    [EQUAL, 0, FAMILIES.length + 2, socket],
    [LOAD, 0, 0, FIRST_ARGUMENT],
    ...FAMILIES.map((family, i): Step => [EQUAL, FAMILIES.length - i, 0, family]),
    [RETURN, 0, 0, errno(EAFNOSUPPORT)],
    [RETURN, 0, 0, ALLOW],
  ];
  const program = Buffer.alloc(steps.length * 8);
  steps.forEach(([code, yes, no, operand], i) => {
    program.writeUInt16LE(code, i * 8);
    program.writeUInt8(yes, i * 8 + 2);
    program.writeUInt8(no, i * 8 + 3);
    program.writeUInt32LE(operand >>> 0, i * 8 + 4);
  });
  return program;
}
