import type { RoleState } from './role-state.ts';

/** Written on each role when it is created: roles belong to the cluster, and this says whose they are. */
export function ownerComment(deploymentId: string): string {
  return `Caudal deployment ${deploymentId}`;
}

const OWN_PREFIX =
  'set CAUDAL_DATABASE_ROLE_PREFIX to a prefix of its own for every process of this deployment, then repeat `caudal migrate`';

/**
 * Why the roles of these names cannot be used by this deployment. A role without rights in any other database is free
 * to take: no other deployment can depend on it. One with rights elsewhere must carry this deployment's id, as after
 * a restore or a copy within the cluster.
 * @param deploymentId null before the database has one
 */
export function roleFaults(states: readonly RoleState[], deploymentId: string | null): string[] {
  return states.filter(({ exists }) => exists).flatMap((state) => faultsOf(state, deploymentId));
}

function faultsOf(state: RoleState, deploymentId: string | null): string[] {
  const { name, comment, usedBy } = state;
  const ours = deploymentId !== null && comment === ownerComment(deploymentId);
  const databases = usedBy.map((database) => `"${database}"`).join(', ');
  if (usedBy.length > 0 && !ours) {
    const copy =
      deploymentId === null
        ? ''
        : `; if that database is a copy of this one, say so first: comment on role ${name} is '${ownerComment(deploymentId)}'`;
    return [
      comment === null
        ? `the role ${name} has rights in the database ${databases} and does not say which deployment it belongs to: ${OWN_PREFIX}${copy}`
        : `the role ${name} belongs to another deployment, in the database ${databases} (its comment: "${comment}"): ${OWN_PREFIX}`,
    ];
  }
  const faults = [
    ...(state.superuser
      ? [`the role ${name} is a superuser: an administrator must run: alter role ${name} nosuperuser`]
      : []),
    ...(state.bypassesRls
      ? [
          `the role ${name} bypasses row-level security: an administrator must run: alter role ${name} nobypassrls`,
        ]
      : []),
    ...(state.canLogin
      ? []
      : [`the role ${name} may not log in: an administrator must run: alter role ${name} login`]),
  ];
  if (state.passwordDiffers && usedBy.length > 0)
    faults.push(
      `the role ${name} has another password than configured, and the database ${databases} uses it too: correct CAUDAL_MASTER_KEY or the address of the role, or change its password yourself: alter role ${name} password '…'`,
    );
  return faults;
}
