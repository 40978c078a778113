-- An anomaly is found by its primary key. While the table is small every index that begins with the organization costs the
-- same, and the plan made then is kept: of those only the primary key is left for a statement that names an anomaly by its id.
drop index caudal.anomalies_of_payin;
create index anomalies_of_payin on caudal.anomalies (organization_id, payin_id) where payin_id is not null;
alter table caudal.anomalies
  drop constraint anomaly_once,
  add constraint anomaly_once unique (once, organization_id);

-- When an accepted anomaly whose booking failed is tried again, so that it neither blocks later ones nor fills the log.
alter table caudal.anomalies add column posting_due_at timestamptz;
grant update (posting_due_at) on caudal.anomalies to caudal_system;
