//! Parquet files of pages with lists of documents and clicks. Absent values are null.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, Int8Builder, ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::impression::Impression;

/// The number of pages that are written as one group.
const PAGES_PER_GROUP: usize = 8192;

/// Columns of texts before the lists.
const TEXTS: [&str; 6] = ["impression", "session", "user", "query", "ranker", "device"];

/// Writes pages in groups, compressed with zstd.
pub(super) struct PageWriter<'a> {
    out: &'a mut dyn Write,
    /// Writes to memory; the bytes are moved to `out` after each group.
    writer: ArrowWriter<Vec<u8>>,
    schema: SchemaRef,
    columns: PageColumns,
}

#[derive(Default)]
struct PageColumns {
    pages: usize,
    texts: [StringBuilder; TEXTS.len()],
    time: Float64Builder,
    documents: ListBuilder<StringBuilder>,
    clicks: ListBuilder<Int8Builder>,
    propensities: ListBuilder<Float64Builder>,
}

impl<'a> PageWriter<'a> {
    pub(super) fn new(out: &'a mut dyn Write) -> io::Result<Self> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .build();
        let list = |name: &str, kind| {
            Field::new(name, DataType::List(Arc::new(Field::new_list_field(kind, true))), true)
        };
        let mut fields: Vec<Field> =
            TEXTS.iter().map(|name| Field::new(*name, DataType::Utf8, true)).collect();
        fields.push(Field::new("time", DataType::Float64, true));
        fields.push(list("query_doc_ids", DataType::Utf8));
        fields.push(list("clicks", DataType::Int8));
        fields.push(list("propensities", DataType::Float64));
        let schema: SchemaRef = Arc::new(Schema::new(fields));
        let writer = ArrowWriter::try_new(Vec::new(), schema.clone(), Some(properties))?;
        Ok(PageWriter { out, writer, schema, columns: PageColumns::default() })
    }

    pub(super) fn write(&mut self, page: &Impression) -> io::Result<()> {
        self.columns.add(page);
        match self.columns.pages < PAGES_PER_GROUP {
            true => Ok(()),
            false => self.flush(),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let columns = std::mem::take(&mut self.columns).finish();
        let batch = RecordBatch::try_new(self.schema.clone(), columns).map_err(io::Error::other)?;
        self.writer.write(&batch)?;
        self.writer.flush()?;
        self.out.write_all(&std::mem::take(self.writer.inner_mut()))
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        self.out.write_all(&self.writer.into_inner()?)?;
        self.out.flush()
    }
}

impl PageColumns {
    fn add(&mut self, page: &Impression) {
        self.pages += 1;
        let texts = [&page.id, &page.session, &page.user, &page.query, &page.ranker, &page.device];
        for (column, text) in self.texts.iter_mut().zip(texts) {
            column.append_option((!text.is_empty()).then_some(text));
        }
        self.time.append_option(page.time);
        self.documents.append_value(page.documents.iter().map(Some));
        let clicks = page.clicked_ranks().into_iter();
        self.clicks.append_value(clicks.map(|clicked| Some(i8::from(clicked))));
        match page.propensities.is_empty() {
            true => self.propensities.append_null(),
            false => self.propensities.append_value(page.propensities.iter().copied().map(Some)),
        }
    }

    fn finish(mut self) -> Vec<ArrayRef> {
        let texts = self.texts.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef);
        let mut columns: Vec<ArrayRef> = texts.collect();
        columns.push(Arc::new(self.time.finish()));
        columns.push(Arc::new(self.documents.finish()));
        columns.push(Arc::new(self.clicks.finish()));
        columns.push(Arc::new(self.propensities.finish()));
        columns
    }
}
