//! The calls of a memory, as every face for agents makes them.

use dream_activities::failure::ResultExt as _;
use dream_activities::space::memory;
use dream_core::change::{RowKey, Table};
use dream_core::failure::Failure;
use dream_core::id::NamespaceId;
use dream_core::realm::space::fact::JournalKind;
use uuid::Uuid;

use super::wire::{
    ActionView, Actions, ContextSize, ContextView, EntryView, FactView, Facts, Forget, ForgottenView, Journal,
    ListFacts, NewAction, NewEntry, NewFact, NewRecord, NewValue, Page, PatchFact, Recall, RecordView, Records,
    SpaceView, ValueView, Values,
};
use super::{Face, Refusal};
use crate::spaces;

/// Facts that a recall answers where nobody asks for another number.
const RECALLED_DEFAULT: u32 = 10;

impl Face {
    /// Refuses a row that is not in the space.
    async fn check_row(&self, space: NamespaceId, table: Table, what: &'static str, id: Uuid) -> Result<(), Refusal> {
        let row = self.store()?.space_row(space, RowKey { table, id }).await.or_fail()?;
        row.map(drop).ok_or_else(|| Refusal::Absent { what, id: id.to_string() })
    }

    /// What came of changing a row; one that is not there, or no longer, is absent whatever else was wrong.
    async fn changed<T>(
        &self,
        done: Result<T, Failure>,
        space: NamespaceId,
        row: (Table, &'static str, Uuid),
    ) -> Result<T, Refusal> {
        match done {
            Ok(changed) => Ok(changed),
            Err(failure) => {
                let (table, what, id) = row;
                self.check_row(space, table, what, id).await?;
                Err(failure.into())
            }
        }
    }

    pub(crate) async fn space(&self, space: NamespaceId) -> Result<SpaceView, Refusal> {
        Ok(self.store()?.space(space).await.or_fail()?.into())
    }

    pub(crate) async fn add_fact(&self, space: NamespaceId, new: NewFact) -> Result<FactView, Refusal> {
        Ok(memory::add_fact(self.store()?, space, new.into()).await?.into())
    }

    pub(crate) async fn facts(&self, space: NamespaceId, list: ListFacts) -> Result<Facts, Refusal> {
        Ok(memory::facts(self.store()?, space, &list.into()).await?.into())
    }

    pub(crate) async fn patch_fact(
        &self,
        space: NamespaceId,
        fact: Uuid,
        patch: PatchFact,
    ) -> Result<FactView, Refusal> {
        let done = memory::patch_fact(self.store()?, space, fact, patch.into()).await;
        Ok(self.changed(done, space, (Table::Facts, "fact", fact)).await?.into())
    }

    pub(crate) async fn recall(&self, space: NamespaceId, recall: Recall) -> Result<Facts, Refusal> {
        let limit = recall.limit.unwrap_or(RECALLED_DEFAULT);
        Ok(memory::recall(self.store()?, space, &recall.query, limit).await?.into())
    }

    pub(crate) async fn forget(&self, space: NamespaceId, forget: Forget) -> Result<ForgottenView, Refusal> {
        let forgotten = memory::forget_fact(self.store()?, space, forget.fact_id).await?;
        spaces::wake_closed(self.store()?, &forgotten.abandoned).await?;
        if !forgotten.was_there && forgotten.undo_records == 0 {
            return Err(Refusal::Absent { what: "fact", id: forget.fact_id.to_string() });
        }
        Ok(forgotten.into())
    }

    pub(crate) async fn context(&self, space: NamespaceId, size: ContextSize) -> Result<ContextView, Refusal> {
        Ok(memory::context(self.handle()?, space, size.characters).await?.into())
    }

    pub(crate) async fn journal(&self, space: NamespaceId, page: Page) -> Result<Journal, Refusal> {
        let entries = memory::journal(self.store()?, space, page.limit).await?;
        Ok(Journal { entries: entries.into_iter().map(EntryView::from).collect() })
    }

    pub(crate) async fn add_entry(&self, space: NamespaceId, new: NewEntry) -> Result<EntryView, Refusal> {
        let kind = new.kind.unwrap_or(JournalKind::Day);
        Ok(memory::add_entry(self.store()?, space, kind, new.day, &new.text).await?.into())
    }

    pub(crate) async fn actions(&self, space: NamespaceId, page: Page) -> Result<Actions, Refusal> {
        let actions = memory::actions(self.store()?, space, page.after, page.limit).await?;
        Ok(Actions { actions: actions.into_iter().map(ActionView::from).collect() })
    }

    pub(crate) async fn add_action(&self, space: NamespaceId, new: NewAction) -> Result<ActionView, Refusal> {
        let new = memory::NewAction { text: new.text, expires_at: new.expires_at };
        Ok(memory::add_action(self.store()?, space, new).await?.into())
    }

    pub(crate) async fn set_action(
        &self,
        space: NamespaceId,
        action: Uuid,
        status: &str,
    ) -> Result<ActionView, Refusal> {
        let done = memory::set_action(self.store()?, space, action, status).await;
        Ok(self.changed(done, space, (Table::Actions, "action", action)).await?.into())
    }

    pub(crate) async fn values(&self, space: NamespaceId, page: Page) -> Result<Values, Refusal> {
        let values = memory::values(self.store()?, space, page.limit).await?;
        Ok(Values { values: values.into_iter().map(ValueView::from).collect() })
    }

    pub(crate) async fn value(&self, space: NamespaceId, key: &str) -> Result<ValueView, Refusal> {
        let value = memory::value(self.store()?, space, key).await?;
        // The key is the owner's own text, and is not repeated.
        Ok(value.ok_or_else(|| Refusal::Absent { what: "value", id: "under this key".to_owned() })?.into())
    }

    pub(crate) async fn put_value(&self, space: NamespaceId, key: &str, new: NewValue) -> Result<ValueView, Refusal> {
        let new = memory::NewKeyValue { value: new.value, expires_at: new.expires_at };
        Ok(memory::put_value(self.store()?, space, key, new).await?.into())
    }

    pub(crate) async fn delete_value(&self, space: NamespaceId, key: &str) -> Result<(), Refusal> {
        if memory::delete_value(self.store()?, space, key).await? {
            return Ok(());
        }
        Err(Refusal::Absent { what: "value", id: "under this key".to_owned() })
    }

    pub(crate) async fn records(&self, space: NamespaceId, collection: &str, page: Page) -> Result<Records, Refusal> {
        let records = memory::records(self.store()?, space, collection, page.limit).await?;
        Ok(Records { records: records.into_iter().map(RecordView::from).collect() })
    }

    pub(crate) async fn add_record(
        &self,
        space: NamespaceId,
        collection: String,
        new: NewRecord,
    ) -> Result<RecordView, Refusal> {
        let new = memory::NewRecord { collection, body: new.body, status: new.status };
        Ok(memory::add_record(self.store()?, space, new).await?.into())
    }

    pub(crate) async fn set_record(
        &self,
        space: NamespaceId,
        record: Uuid,
        status: &str,
    ) -> Result<RecordView, Refusal> {
        let done = memory::set_record(self.store()?, space, record, status).await;
        Ok(self.changed(done, space, (Table::Records, "record", record)).await?.into())
    }
}
